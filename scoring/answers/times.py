"""How times are written: clocks, units, and the words around spans, by language, as data; the patterns made of them."""

# ruff: noqa: E501 - the words of a kind stand together

import re

SECONDS = (
    "s|sec|secs|second|seconds|seconde|secondes|segundo|segundos|sekunde|sekunden|secondo|secondi|detik|сек|секунда|секунды"
    "|секунд|секунду|секунде|секундой|с|秒|秒钟|秒目|초|सेकंड|सेकेंड|सेकण्ड|ثانية|الثانية|ثوان|ثوانٍ|ثواني|วินาที|วินาทีที่|th second|rd second"
    "|st second|nd second|secs.|''"
    "|saniye|sn|sekunda|sekundy|sekundę|sekund|sek|sekunder|sekunden|seconden|giây|sekuntia|sekunnin|másodperc|secunde|secunda|vteřin|δευτερόλεπτο|δευτερόλεπτα|δευτ|секунди|ثانیه|سیکنڈ|שניות|שנייה|שניה|সেকেন্ড|সেকেন্ডের|வினாடி|விநாடி|வினாடிகள்|நொடி|సెకను|సెకన్లు|సెకండ్లు|సెకన్ల|సెకండ్ల|ಸೆಕೆಂಡು|ಸೆಕೆಂಡ್|ಸೆಕೆಂಡುಗಳು|ಸೆಕೆಂಡುಗಳ|सेकंदा|सेकंद|सेकंदांपासून|सेकंदांपर्यंत"
)
MINUTES = (
    "min|mins|minute|minutes|minuto|minutos|minuten|minuti|menit|мин|минута|минуты|минут|минуту|минуте|分|分钟|분|मिनट|دقيقة"
    "|الدقيقة|دقائق|นาที|นาทีที่|m|'"
    "|dakika|dk|minuta|minuty|minut|minuut|minuter|minutter|phút|minuuttia|perc|λεπτό|λεπτά|хвилина|хвилини|хвилин|хв|دقیقه|منٹ|דקות|דקה|মিনিট|நிமிடம்|நிமிடங்கள்|நிமிட|నిమిషం|నిమిషాలు|నిమిషాల|ನಿಮಿಷ|ನಿಮಿಷಗಳು|मिनिटे"
)
HOURS = (
    "h|hr|hrs|hour|hours|hora|horas|heure|heures|stunde|stunden|ora|ore|jam|час|часа|часов|小时|小時|時間|시간|घंटे|घंटा|ساعة|ساعات|ชั่วโมง"
    "|saat|uur|giờ|timmar|godzin|година|години|годин|ساعت|שעות|שעה|ঘণ্টা|மணி|గంట|ಗಂಟೆ|तास"
)
TO = (
    "to|until|till|through|thru|up to|and ends at|all the way to|a|al|hasta|hasta el|à|aos|às|ai|alle|jusqu'à|jusqu’à|au|bis|bis zu|até|ao|до"
    "|по|から|到|至|부터|에서|से|إلى|الى|حتى|hingga|sampai|ke|ถึง|au second|fino a|sino a|ad|into|- to -|and lasts until|and continues until|and lasts to|持续到|一直到|直到"
    "|do|tot|tot en met|đến|tới|til|έως|μέχρι|ως|تا|עד|থেকে|முதல்|నుండి|నుంచి|ಇಂದ|ರಿಂದ|ते|až|până la"
)
# Only with a word for "between".
AND = "and|y|et|und|e|и|和|と|와|과|और|و|dan|และ|ile|en|och|og|και|та|і|và|এবং|மற்றும்|మరియు|ಮತ್ತು|आणि|i|ו"
BETWEEN = (
    "between|entre|zwischen|tra|fra|между|之间|之間|間|사이|बीच|بين|antara|ระหว่าง"
    "|arasında|między|pomiędzy|tussen|giữa|mellan|mellem|mellom|μεταξύ|між|בין|মধ্যে|இடையே|మధ్య|ನಡುವೆ|दरम्यान|mezi|între|között"
)
FROM = (
    "from|desde|de|del|dos|das|dai|dalle|depuis|von|vom|dal|da|dari|от|с|со|从|從|自|من|จาก|ตั้งแต่"
    "|during|throughout|od|van|từ|från|fra|από|від|з|із|از|de la"
)
START = (
    "starts?|starting|start time|start_time|begins?|beginning|onset|inicio|inicia|empieza|comienza|début|debut|commence|beginn"
    "|beginnt|anfang|startet|início|começa|inicia|começo|начало|начинается|начинаясь|开始|開始|开始时间|始まり|始まる|시작|शुरू|शुरुआत|आरंभ"
    "|بداية|البداية|تبدأ|يبدأ|inizio|inizia|comincia|mulai|dimulai|awal|เริ่ม|เริ่มต้น"
    "|başlangıç|początek|bắt đầu|αρχή|έναρξη|початок|شروع|آغاز|התחלה|শুরু|தொடக்கம்|ஆரம்பம்|ప్రారంభం|ಪ್ರಾರಂಭ|ಆರಂಭ|सुरुवात"
)
END = (
    "ends?|ending|end time|end_time|finish|finishes|finishing|stops?|until|lasts until|continues? to|continues? until|concludes"
    "|through|is over|over by|fin|término|termina|acaba|finaliza|hasta|se termine|finit|s'achève|ende|endet|bis|fim|acaba|até|конец|заканчивается"
    "|кончается|до|结束|結束|終了|終わり|終わる|종료|끝|समाप्त|अंत|ख़त्म|खत्म|تنتهي|ينتهي|نهاية|النهاية|fine|finisce|selesai|berakhir"
    "|akhir|สิ้นสุด|จบ"
    "|bitiş|koniec|einde|kết thúc|slut|slutar|τέλος|λήξη|кінець|پایان|סיום|סוף|শেষ|முடிவு|ముగింపు|ಅಂತ್ಯ|ಮುಕ್ತಾಯ|शेवट|समाप्ती"
)
# Names of a span's two ends: what they say of one counts wherever the other stands.
START_NAME = (
    "start time|starting time|start timestamp|starting timestamp|start point|starting point|start_time|开始时间|開始時間|開始時刻"
    "|시작 시간|시작 시각|hora de inicio|tiempo de inicio|temps de début|heure de début|startzeit|startzeitpunkt|hora de início"
    "|tempo de início|tempo inicial|время начала|प्रारंभ समय|शुरुआती समय|وقت البداية|وقت البدء|orario di inizio|tempo di inizio"
    "|waktu mulai|เวลาเริ่มต้น"
)
END_NAME = (
    "end time|ending time|end timestamp|ending timestamp|end point|ending point|end_time|结束时间|結束時間|終了時間|終了時刻"
    "|종료 시간|종료 시각|hora de fin|tiempo de fin|tiempo final|temps de fin|heure de fin|endzeit|endzeitpunkt|hora de término"
    "|tempo de fim|tempo final|время окончания|время конца|समाप्ति समय|अंत समय|وقت النهاية|وقت الانتهاء|orario di fine|tempo di fine"
    "|waktu selesai|waktu akhir|เวลาสิ้นสุด"
)
# What names a span; behind one of these a bare range of numbers is time.
SPAN = (
    "span|window|segment|interval|time|timestamp|timestamps|time span|time range|time window|clip|moment|section|relevant"
    "|evidence|range|period|duration|temporal|seconds|second|grounding|intervalo|tiempo|tramo|segmento|ventana|momento|intervalle|extrait"
    "|temps|fenêtre|passage|zeitspanne|zeitraum|abschnitt|zeit|zeitfenster|intervall|tempo|trecho|janela|интервал|отрезок|время|фрагмент"
    "|时间|时间段|片段|区间|時間|時間帯|区間|구간|시간|समय|अंतराल|खंड|الفترة|المقطع|الوقت|زمن|الزمن|intervallo|segmento|finestra|rentang"
    "|waktu|segmen|ช่วงเวลา|ช่วง|เวลา|answer|final|therefore|thus|hence|答案|정답|答え|respuesta|réponse|antwort|resposta|ответ|उत्तर"
    "|الإجابة|risposta|jawaban|คำตอบ"
    "|zaman|czas|tijd|thời gian|tid|χρόνος|زمان|זמן|সময়|நேரம்|సమయం|ಸಮಯ|वेळ|cevap|odpowiedź|antwoord|đáp án|svar|απάντηση|відповідь|پاسخ|תשובה|উত্তর|பதில்|సమాధానం|ಉತ್ತರ"
)
# Behind these a moment is the end of a span from 0.
FIRST = "first|primeros|primeiros|primi|ersten|первые|最初の|前|처음|पहले|أول|pertama"
BEGINNING = "from the beginning|from the start|from the very beginning|from the very start|from start|from beginning|desde el principio|desde el inicio|du début|von anfang an|desde o início|с начала|从开始|最初から|처음부터"
FRAMES = "frames|fotogramas|кадры|кадров|帧|幀|フレーム|프레임|fotogrammi|เฟรม|bilder"
# What makes bare numbers no times, before or behind them.
NOT_TIMES = (
    f"frame|fotograma|кадр|кадра|बिंदु|إطار|{FRAMES}|images? n"
    "|score|scores|scored|scoring|rating"
    "|rated|rate|ages?|aged|years?|year|page|pages|страниц[аыуе]?|этажа?|étages?|стр|chapter|chapters|episodes?|temperature|price|number of|count|counts"
    "|went|goes up|goes down|rises?|rose|grows?|grew|increase[sd]?|increased|decrease[sd]?|changed?|changes|ratio"
    "|percent|per cent|percentage|confidence|probability|scale|options?(?!\\W{1,4}(?:is)?\\W{0,4}[a-z]\\b)|choices?(?!\\W{1,4}(?:is)?\\W{0,4}[a-z]\\b)|dollars"
    "|índice|год|года|году|годы|годов|年|años?|años|ans|années|jahren?|anos|tahun|ปี|साल|سنة|عام|anni|年代|分数|得分|比分|点数"
    "|スコア|점수|puntos?|puntuación|verse|odds|won by|tied|channels?|o'clock|volume|speed|resolution|pixels?|index|indices"
)
# What may be numbered or counted, and may as well be where something happens: only right before bare numbers.
NUMBERED = "falls?|fell|drops?|dropped|floors?|room|rooms|win|wins|won|lost|lead|leads|beat|steps?|points?|people|size|weight|height|levels|level"
# A stretch of time, not a place in the video.
LASTING = "for|lasts?|lasting|takes?|taking|every|within|after|waits?|waited|another|about every|durante|pendant|für|для|lasted|took|during about"

# Words that say of a time that something is there, and those that deny or hedge an option, but never a time.
HAPPENS = (
    "happens?|happened|happening|occurs?|occurred|occurring|takes?|took|place|seen|shown|visible|located|found|think|believe"
    "|say|be|been|event|action|scene"
)
DENIES_NO_TIME = (
    "out|less|another|either|over|than|at first|initially|first glance|first thought|tempting|plausible|fails|wrong|incorrect"
    "|incorrectly|false|inaccurate|misleading|irrelevant|a distractor|distractor|unable|no|suppose|assume|possible|partly|partially"
)

# From here on, scripts are written without spaces.
_THAI = 0x0E00

# 12th, la 12e, 12-й, 12वें.
ORDINAL = r"(?:th|st|nd|rd|e|è|ème|ª|º|-?(?:й|я|ю|е|ая|ую|ой)|वें|वीं)(?![^\W\d_])"
_DIGITS = r"(?<![\d./$€£#])(?<!\d:)(?<![\d,]\d,)(?<!\d,)"
_NUMBER = r"\d{1,7}+(?:\.\d{1,9}+)?(?![\d])"
_CLOCK = r"\d{1,3}+:\d{1,2}+(?::\d{1,2}+)?(?:\.\d{1,9}+|,\d{3}(?!\d|:))?(?![\d:])"


def words(phrases: str) -> str:
    """Return phrases as a pattern: the longest first, whole words in scripts that have spaces."""
    ordered = sorted(phrases.split("|"), key=len, reverse=True)
    latin = [phrase for phrase in ordered if ord(phrase[0]) < _THAI]
    unspaced = [phrase for phrase in ordered if ord(phrase[0]) >= _THAI and phrase[0] != "'"]
    quotes = [phrase for phrase in latin if phrase[0] == "'"]
    latin = [phrase for phrase in latin if phrase not in quotes]
    whole = rf"(?<![^\W\d_])(?:{'|'.join(latin)})(?![^\W\d_])"
    return "|".join(filter(None, [whole, "|".join(unspaced), "|".join(quotes)]))


def _units(name: str, phrases: str, number: str) -> str:
    return (
        rf"(?P<{name}{number}>\d{{1,7}}+(?:\.\d{{1,9}}+)?)(?:{ORDINAL})?[ -]?(?P<{name}_unit{number}>{words(phrases)})"
    )


def moment(number: str) -> str:
    """Return the pattern of a moment, its groups numbered: a clock, hours to seconds with units, or a number."""
    joint = r"[\s,]{0,2}(?:(?:and|y|et|und|e|и|和|dan|और|و|และ)\s)?"
    hours, minutes, seconds = (
        _units(name, phrases, number) for name, phrases in (("h", HOURS), ("m", MINUTES), ("s", SECONDS))
    )
    # Behind a space only where no unit of another's can follow: 1 minute 30 to 2 minutes 10.
    stands = rf"[0-5]?\d(?: (?:{words(TO)}|-) \d{{1,3}} (?:{words(MINUTES)})| ?(?:[.;)\]\n](?!\d)|$))"
    bare_seconds = rf"(?:(?<![m']) (?={stands}))?(?P<rest{number}>\d{{1,2}}+(?:\.\d{{1,9}}+)?(?![\d:]|\.\d))"
    # 1h, 1h2m, 1h2m3s, 2m, 2m3s, 2m03, 2 minutes 3, 3s
    unit = (
        rf"(?:{hours}(?:{joint}{minutes.replace('<m', '<hm')})?(?:{joint}{seconds.replace('<s', '<hs')})?"
        rf"|{minutes}(?:{joint}{seconds.replace('<s', '<ms')}|{bare_seconds})?|{seconds})"
    )
    unit_of_clock = rf"(?P<clock{number}>{_CLOCK})(?:\s?(?:{words(SECONDS + '|' + MINUTES + '|' + HOURS)}))?"
    comma = rf"(?P<comma{number}>\d{{1,5}}+,\d{{1,2}}+(?![\d,.:]))(?:\s?(?P<comma_unit{number}>{words(SECONDS)}))?"
    prefix = rf"(?:(?P<prefix{number}>{words('second|seconds|minute|minutes|segundo|seconde|sekunde|secondo|detik|ke|第|секунды|секунда|วินาทีที่|วินาที|सेकंड|الثانية|minuto|menit')}|(?<=و)الثانية)\s?(?:ke-|ke )?)?"
    return rf"{_DIGITS}(?:{prefix}(?:{unit_of_clock}|{unit}|{comma}|(?P<number{number}>{_NUMBER})))"


def moment_pattern(number: str) -> str:
    """As `moment`, with the word or bracket that may stand before one."""
    before = r"(?:(?:about|around|roughly|approximately|approx\.?|ca\.?|the)\s|t\s?=\s?|[\[(<~≈]\s?|\"|第\s?|la\s|el\s|le\s|o\s|il\s|der\s|وال|detik ke-|ke-)?"
    return before + moment(number)


_TWO_DIGITS = re.compile(r":\d\d(?!\d)")
SEPARATOR = rf"\s?(?:[\])>\"]\s?)?(?:目|の|まで|में|mark|{ORDINAL})?\s?(?P<by>[,;]|-{{1,2}}>|[-~→]{{1,2}}|=>|\.{{2,3}}|(?P<and>{words(AND)}|و(?=ال))|{words(TO)})\s{{0,2}}"
RANGE = re.compile(moment_pattern("1") + SEPARATOR + moment_pattern("2"))
SINGLE = re.compile(moment("1"))


def seconds(match: re.Match[str], number: str) -> float:
    """Return a matched moment in seconds (behind "minute" in minutes), a bare number as it stands."""
    if clock := match[f"clock{number}"]:
        total = 0.0
        for part in clock.replace(",", ".").split(":"):
            total = total * 60 + float(part)
        return total
    parts = {
        name: float(match[f"{key}{number}"])
        for name, keys in (("h", ("h",)), ("m", ("m", "hm")), ("s", ("s", "hs", "ms", "rest")))
        for key in keys
        if match[f"{key}{number}"]
    }
    if parts:
        return parts.get("h", 0.0) * 3600 + parts.get("m", 0.0) * 60 + parts.get("s", 0.0)
    value = float((match[f"comma{number}"] or match[f"number{number}"] or "0").replace(",", "."))
    return value * 60 if unit(match, number) == "m" else value


def unit(match: re.Match[str], number: str) -> str:  # noqa: PLR0911 - a table
    """Return how a matched moment says that it is one: `clock`, `h`, `m`, `s`, `metre` (a bare m) or nothing."""
    if clock := match[f"clock{number}"]:
        # 3:2 is as well a score.
        return "clock" if _TWO_DIGITS.search(clock) else ""
    if match[f"h_unit{number}"]:
        return "h" if not (match[f"hm{number}"] or match[f"hs{number}"]) else "s"
    if match[f"m_unit{number}"]:
        if match[f"ms{number}"] or match[f"rest{number}"]:
            return "s"
        return "metre" if match[f"m_unit{number}"] in ("m", "'") else "m"
    if match[f"s_unit{number}"] or match[f"comma_unit{number}"]:
        return "s"
    prefix = match[f"prefix{number}"]
    if prefix:
        return "m" if prefix.startswith(("min", "men")) else "s" if prefix not in ("ke", "第") else ""
    return ""
