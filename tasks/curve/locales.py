"""CURVE's locales, one language and region each.

The owners' README lists 18 locales and the paper's supplement 18 others in part (its Table 1 has `en-IN` and `th-TH`
where the README has `bn-BD` and `kn-IN`), so each of the 20 has a task; which of them have rows is for the data to say.
"""

LOCALES = (
    *("ar-EG", "bn-BD", "de-DE", "en-GB", "en-IN", "es-MX", "fr-FR", "hi-IN", "id-ID", "it-IT"),
    *("ja-JP", "kn-IN", "ko-KR", "mr-IN", "pt-BR", "ru-RU", "ta-IN", "te-IN", "th-TH", "zh-TW"),
)
