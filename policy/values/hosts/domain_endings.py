"""Top-level domains: whether the last label of a bare name suggests that it is a host name."""

from __future__ import annotations

_GENERIC = frozenset(
    "com net org edu gov mil info biz app dev xyz top site online store shop club tech cloud live"
    " icu vip space website agency blog news onion test example invalid local internal corp lan"
    " localhost arpa".split()
)
# Country codes, without those that are mostly file extensions.
_COUNTRIES = frozenset(
    "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs"
    " bt bv bw by bz ca cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee"
    " eg er es et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk"
    " hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la"
    " lb lc li lk lr ls lt lu lv ly ma mc me mg mh mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc"
    " ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pm pn pr pt pw qa re ro ru rw sa sb sc sd"
    " se sg si sj sk sl sm sn sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw"
    " tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw".split()
)
# Endings in other scripts.
_OTHER_SCRIPTS = frozenset(
    "中国 中國 香港 台湾 台灣 新加坡 澳門 公司 网络 网址 在线 中文网 集团 我爱你 商标 商城 商店"
    " 企业 信息 移动 网站 网店 政务 公益 机构 手机 游戏 娱乐 购物 招聘 广东 佛山 コム みんな"
    " ストア セール クラウド 한국 닷컴 닷넷 рф бел укр бг мкд срб мон қаз ею рус ком орг сайт"
    " онлайн дети москва католик ευ ελ հայ გე ישראל קום ไทย คอม ລາວ ایران عراق الاردن الجزائر"
    " السعودية المغرب امارات تونس سودان سورية عمان فلسطين قطر مصر مليسيا موريتانيا پاکستان"
    " پاكستان البحرين بھارت بارت شبكة موقع بازار كوم عرب همراه ڀارت"
    " भारत भारतम् भारोत कॉम नेट संगठन ভারত ভাৰত বাংলা ભારત ਭਾਰਤ ଭାରତ இந்தியா இலங்கை சிங்கப்பூர் భారత్"
    " ಭಾರತ ഭാരതം ලංකා".split()
)
# Words that follow a full stop where the blank is missing; they begin with a capital then.
_WORDS = frozenset("am as at be by do in is it me my no so to us".split())


def is_usual_ending(label: str) -> bool:
    """Return whether a name that ends in this label is probably a host name."""
    lower = label.lower()
    if lower in _WORDS and label[0].isupper() and not label.isupper():
        return False
    known = _GENERIC if lower.isascii() else _OTHER_SCRIPTS
    return lower in known or lower in _COUNTRIES or lower.startswith("xn--")
