// What is wrong with a text as it is written: letters of another script, a time that is no mm:ss or lies behind the end.
function textFault(ask, text) {
  if (ask.scripts) {
    const own = new RegExp(`[${ask.scripts.map((script) => `\\p{Script=${script}}`).join("")}]`, "u");
    const letters = text.match(/\p{L}/gu) || [];
    if (letters.length && 2 * letters.filter((letter) => own.test(letter)).length <= letters.length) return `Most letters are not ${ask.scripts.join(", ")}.`;
  }
  if (!ask.times) return "";
  const lines = text.split("\n").filter((line) => line.trim());
  for (const [place, line] of lines.entries())
    for (const time of line.match(/\d+(?::\d+)+/g) || []) {
      if (!/^\d{2,3}:[0-5]\d$/.test(time)) return `Step ${place + 1}: ${time} is not mm:ss, as in 06:13.`;
      const [minutes, seconds] = time.split(":").map(Number);
      if (ask.length && 60 * minutes + seconds > ask.length) return `Step ${place + 1}: ${time} lies behind the video's end.`;
    }
  return /\d:\d/.test(text) ? "" : "No step has a time; write it as mm:ss.";
}
