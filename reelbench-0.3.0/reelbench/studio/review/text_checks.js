// Words that one of the languages of Latin script has and the others don't: which of them a text is in.
const TELLING = Object.entries({
  de: "der und ist welche welcher wie wird den dem nicht viele wer", en: "the is of and what which how does who when many are",
  es: "el los qué cuál cuántos cuántas cómo quién después dónde", fr: "les est quel quelle combien dans après et du des avec",
  id: "yang apa berapa dengan siapa dan pada setelah adalah", it: "il gli che quale quanti nel della dopo chi è",
  pt: "os qual quantos quantas não em depois uma quem",
}).map(([language, words]) => [language, new Set(words.split(" "))]);
// The language that a text is in rather than in its own; "" where nothing tells.
function otherLanguage(own, text) {
  const words = text.toLowerCase().match(/\p{L}+/gu) || [];
  const counts = TELLING.map(([language, telling]) => [language, words.filter((word) => telling.has(word)).length]);
  const owned = counts.find(([language]) => language === own);
  if (!owned) return "";
  const [other, most] = counts.filter((count) => count !== owned).reduce((a, b) => (b[1] > a[1] ? b : a));
  return most > 1 && most > 2 * owned[1] ? other : "";
}
// What is wrong with a text as it is written: letters of another script, words of another language, a time that is no
// mm:ss or lies behind the end.
function textFault(ask, text) {
  if (ask.scripts) {
    const own = new RegExp(`[${ask.scripts.map((script) => `\\p{Script=${script}}`).join("")}]`, "u");
    const letters = text.match(/\p{L}/gu) || [];
    if (letters.length && 2 * letters.filter((letter) => own.test(letter)).length <= letters.length) return `Most letters are not ${ask.scripts.join(", ")}.`;
  }
  const other = otherLanguage(ask.language, text);
  const name = (language) => new Intl.DisplayNames("en", { type: "language" }).of(language);
  if (other) return `This reads as ${name(other)}; write it in ${name(ask.language)}.`;
  if (!ask.times) return "";
  const lines = text.split("\n").filter((line) => line.trim());
  for (const [place, line] of lines.entries())
    for (const time of line.match(/\p{Nd}+(?::\p{Nd}+)+/gu) || []) {
      if (!/^\d{2,3}:[0-5]\d$/.test(time)) return `Step ${place + 1}: ${time} is not mm:ss, as in 06:13.`;
      const [minutes, seconds] = time.split(":").map(Number);
      if (ask.length && 60 * minutes + seconds > ask.length) return `Step ${place + 1}: ${time} lies behind the video's end.`;
    }
  return "";
}
