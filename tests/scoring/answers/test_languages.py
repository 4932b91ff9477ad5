"""How answers are stated in each language of CURVE's locales and of `run --languages`; the sentences are ours."""

import pytest

from reelbench.scoring.answers import read_option, read_span

OPTIONS = ("1815", "1848", "1871", "1914")
# By language: what states an option; what denies one; what leaves two; a span from 3 to 12 seconds.
STATED = {
    "en": ("Answer: {}", "The correct answer is {}."),
    "zh": ("答案：{}", "正确答案是{}。"),
    "zh-TW": ("答案：{}", "正確答案是{}。"),
    "ja": ("答え：{}", "正解は{}です。"),
    "ko": ("정답: {}", "정답은 {}입니다."),
    "es": ("Respuesta: {}", "La respuesta correcta es {}."),
    "fr": ("Réponse : {}", "La bonne réponse est {}."),
    "de": ("Antwort: {}", "Die richtige Antwort ist {}."),
    "pt": ("Resposta: {}", "A resposta correta é {}."),
    "ru": ("Ответ: {}", "Правильный ответ — {}."),
    "it": ("Risposta: {}", "La risposta corretta è {}."),
    "id": ("Jawaban: {}", "Jawaban yang benar adalah {}."),
    "th": ("คำตอบ: {}", "คำตอบที่ถูกต้องคือ {}"),
    "hi": ("उत्तर: {}", "सही उत्तर {} है।"),
    "ar": ("الإجابة: {}", "الإجابة الصحيحة هي {}."),
    "mr": ("उत्तर: {}", "योग्य उत्तर {} आहे."),
    "bn": ("উত্তর: {}", "সঠিক উত্তর হলো {}।"),
    "ta": ("பதில்: {}", "சரியான விடை {} ஆகும்."),
    "te": ("సమాధానం: {}", "సరైన సమాధానం {}."),
    "kn": ("ಉತ್ತರ: {}", "ಸರಿಯಾದ ಉತ್ತರ {}."),
    "tr": ("Cevap: {}", "Doğru cevap {}'dir."),
    "pl": ("Odpowiedź: {}", "Prawidłowa odpowiedź to {}."),
    "nl": ("Antwoord: {}", "Het juiste antwoord is {}."),
    "vi": ("Đáp án: {}", "Câu trả lời đúng là {}."),
    "sv": ("Svar: {}", "Rätt svar är {}."),
    "da": ("Svar: {}", "Det rigtige svar er {}."),
    "nb": ("Svar: {}", "Svaret er {}."),
    "cs": ("Odpověď: {}", "Správná odpověď je {}."),
    "ro": ("Răspuns: {}", "Răspunsul corect este {}."),
    "hu": ("Válasz: {}", "A helyes válasz: {}."),
    "fi": ("Vastaus: {}", "Oikea vastaus on {}."),
    "el": ("Απάντηση: {}", "Η σωστή απάντηση είναι {}."),
    "uk": ("Відповідь: {}", "Правильна відповідь — {}."),
    "fa": ("پاسخ: {}", "پاسخ صحیح {} است."),
    "ur": ("جواب: {}", "صحیح جواب {} ہے۔"),
    "he": ("תשובה: {}", "התשובה הנכונה היא {}."),
    "az": ("Cavab: {}", "Düzgün cavab {} variantıdır."),
    "kk": ("Жауап: {}", "Дұрыс жауап {} нұсқасы болып табылады."),
    "uz": ("Javob: {}", "To‘g‘ri javob {} variantidir."),
}
NONE = (
    *(
        "Doğru cevap B değil.",
        "Prawidłowa odpowiedź to nie B.",
        "Het antwoord is niet B.",
        "Đáp án không phải là B.",
    ),
    *(
        "Svaret är inte B.",
        "Svaret er ikke B.",
        "Správná odpověď není B.",
        "Răspunsul nu este B.",
        "A válasz nem B.",
    ),
    *(
        "Vastaus ei ole B.",
        "Η απάντηση δεν είναι B.",
        "Відповідь не B.",
        "پاسخ B نیست.",
        "התשובה היא לא B.",
    ),
    *(
        "উত্তর B নয়।",
        "பதில் B அல்ல.",
        "సమాధానం B కాదు.",
        "ಉತ್ತರ B ಅಲ್ಲ.",
        "उत्तर B नाही.",
        "صحیح جواب B نہیں ہے۔",
    ),
    *(
        "Cevap: A veya B",
        "Odpowiedź: A lub B",
        "Antwoord: A of B",
        "Đáp án: A hoặc B",
        "Svar: A eller B",
    ),
    *(
        "Odpověď: A nebo B",
        "Răspuns: A sau B",
        "Válasz: A vagy B",
        "Vastaus: A tai B",
        "Απάντηση: A ή B",
    ),
    *(
        "Відповідь: A або B",
        "پاسخ: A یا B",
        "תשובה: A או B",
        "উত্তর: A বা B",
        "பதில்: A அல்லது B",
        "సమాధానం: A లేదా B",
    ),
    *(
        "ಉತ್ತರ: A ಅಥವಾ B",
        "उत्तर: A किंवा B",
        "Belki B.",
        "Może B.",
        "Misschien B.",
        "Có lẽ là B.",
        "Kanske B.",
    ),
    *("答案：A及B", "Якщо правильна відповідь B, то це 1848."),
    *("Respuesta: a o b", "Risposta: a e b", "Resposta: a e b", "Réponse : a ou b"),
)
SPANS = (
    *(
        "3 ile 12 saniye arasında",
        "3 saniye - 12 saniye",
        "od 3 do 12 sekundy",
        "van 3 tot 12 seconden",
        "från 3 till 12 sekunder",
    ),
    *(
        "tussen 3 en 12 seconden",
        "từ 3 đến 12 giây",
        "mellan 3 och 12 sekunder",
        "fra 3 til 12 sekunder",
        "od 3 do 12 sekund",
    ),
    *(
        "από 3 έως 12 δευτερόλεπτα",
        "від 3 до 12 секунд",
        "از 3 تا 12 ثانیه",
        "3 עד 12 שניות",
        "3 থেকে 12 সেকেন্ড",
    ),
    *(
        "3 முதல் 12 வினாடி வரை",
        "3 నుండి 12 సెకన్ల వరకు",
        "3 ರಿಂದ 12 ಸೆಕೆಂಡುಗಳು",
        "3 ते 12 सेकंद",
        "۳ تا ۱۲ ثانیه",
    ),
    *("৩ থেকে ১২ সেকেন্ড", "Başlangıç: 3 saniye, bitiş: 12 saniye", "Początek: 3 s, koniec: 12 s"),
    *(
        "Bắt đầu: 3 giây, kết thúc: 12 giây",
        "শুরু: 3 সেকেন্ড, শেষ: 12 সেকেন্ড",
        "התחלה: 3 שניות, סיום: 12 שניות",
    ),
)


@pytest.mark.parametrize("letter", "ABCD")
@pytest.mark.parametrize("language", STATED)
def test_a_heading_and_a_sentence_state_an_option(language, letter):
    heading, sentence = STATED[language]
    heading = heading.format(letter)
    brackets = f"【{heading.partition(':')[0].partition('：')[0].strip()}】{letter}"
    texts = (heading, sentence.format(letter), heading.lower(), brackets)
    assert {text: read_option(text, OPTIONS) for text in texts} == dict.fromkeys(texts, letter)


@pytest.mark.parametrize("text", NONE)
def test_what_is_denied_hedged_or_left_open_states_none(text):
    assert read_option(text, OPTIONS) is None


@pytest.mark.parametrize(
    "so", ["したがって", "よって", "つまり", "ゆえに", "だから", "以上より", "従って", "そのため"]
)
def test_a_japanese_conclusion_states_its_letter(so):
    assert read_option(f"空が暗い。{so}Bです。", OPTIONS) == "B"


@pytest.mark.parametrize("text", SPANS)
def test_a_span_in_its_language(text):
    assert read_span(text) == [3, 12]
