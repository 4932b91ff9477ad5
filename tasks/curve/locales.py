"""The rows of each locale, for the tasks that run one language alone.

The owners' README lists 18 locales and the paper's supplement 18 others in part (its Table 1 has `en-IN` and `th-TH`
where the README has `bn-BD` and `kn-IN`), so each of the 20 has a task; which of them have rows is for the data to say.
"""

from reelbench.registry.data.rows_on_disk import RowsOnDisk

AR_EG = RowsOnDisk("curve_ar-EG")
BN_BD = RowsOnDisk("curve_bn-BD")
DE_DE = RowsOnDisk("curve_de-DE")
EN_GB = RowsOnDisk("curve_en-GB")
EN_IN = RowsOnDisk("curve_en-IN")
ES_MX = RowsOnDisk("curve_es-MX")
FR_FR = RowsOnDisk("curve_fr-FR")
HI_IN = RowsOnDisk("curve_hi-IN")
ID_ID = RowsOnDisk("curve_id-ID")
IT_IT = RowsOnDisk("curve_it-IT")
JA_JP = RowsOnDisk("curve_ja-JP")
KN_IN = RowsOnDisk("curve_kn-IN")
KO_KR = RowsOnDisk("curve_ko-KR")
MR_IN = RowsOnDisk("curve_mr-IN")
PT_BR = RowsOnDisk("curve_pt-BR")
RU_RU = RowsOnDisk("curve_ru-RU")
TA_IN = RowsOnDisk("curve_ta-IN")
TE_IN = RowsOnDisk("curve_te-IN")
TH_TH = RowsOnDisk("curve_th-TH")
ZH_TW = RowsOnDisk("curve_zh-TW")

BY_LOCALE = {
    rows.task.removeprefix("curve_"): rows
    for rows in (
        *(AR_EG, BN_BD, DE_DE, EN_GB, EN_IN, ES_MX, FR_FR, HI_IN, ID_ID, IT_IT),
        *(JA_JP, KN_IN, KO_KR, MR_IN, PT_BR, RU_RU, TA_IN, TE_IN, TH_TH, ZH_TW),
    )
}
