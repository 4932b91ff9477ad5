// The video, or a strip of its frames where the browser can't play it: both have a time that one can read and set.
const video = at("video");
const strip = at("strip");
const SPEEDS = [.25, .5, .75, 1, 1.25, 1.5, 2, 3, 4];
const player = {
  shown: null, // key of the video that is loaded
  stripTime: 0,
  looped: null, // [start, end], while the span is looped
  chosen: {}, // key of a video -> the file that the reviewer chose for it
  get facts() { return review.videos[this.shown] || {}; },
  // A clip may be cut from a longer video: all times are the video's.
  get from() { return (!this.chosen[this.shown] && this.facts.from) || 0; },
  get time() { return strip.hidden ? video.currentTime + this.from : this.stripTime; },
  get length() { return (strip.hidden && Number.isFinite(video.duration) ? video.duration + this.from : this.facts.duration) || 0; },
  get frame() { return 1 / (this.facts.fps || 25); },
  seek(time) {
    time = Math.min(Math.max(this.from, time), this.length || time);
    if (strip.hidden) video.currentTime = time - this.from;
    else { this.stripTime = time; this.markStrip(); }
    this.tick();
  },
  // A frame is shown from its own time on: half a frame further is surely inside it.
  step(frames) { this.seek((Math.floor(this.time / this.frame + 1e-3) + frames + .5) * this.frame); },
  toggle() { if (video.paused) video.play().catch(() => {}); else video.pause(); },
  get speed() { return video.defaultPlaybackRate; },
  // The next video is played as fast: it takes the default.
  setSpeed(speed) {
    video.defaultPlaybackRate = video.playbackRate = speed;
    at("speed").value = String(speed);
  },
  pace(by) { this.setSpeed(SPEEDS[Math.min(Math.max(0, SPEEDS.indexOf(this.speed) + by), SPEEDS.length - 1)]); },
  load(key) {
    if (key === this.shown) return;
    this.shown = key;
    this.stripTime = 0;
    this.looped = null;
    this.asStrip(false);
    const source = this.address();
    if (source) video.src = source;
    else video.removeAttribute("src");
    video.load();
    if (!source) this.asStrip(true);
    this.lack(!source && strip.hidden);
    this.tick();
  },
  // Where the video is played from: a chosen file, a clip in the page, or a file on this computer.
  address() {
    if (clip) URL.revokeObjectURL(clip);
    clip = null;
    const file = this.chosen[this.shown];
    const { source } = this.facts;
    if (!file && !(source || "").startsWith("clip:")) return source;
    return (clip = URL.createObjectURL(file || clipOf(source)));
  },
  // What is played, by its name alone: a path says nothing on another computer.
  lack(lacks) {
    const file = this.chosen[this.shown];
    const name = nameOf(this.shown);
    const clipped = ((this.facts.source || "").startsWith("clip") && !file) || false;
    const cut = clipped && this.facts.from ? `, from ${clock(this.facts.from)} on` : "";
    at("source").classList.toggle("lacking", lacks);
    video.hidden = lacks || !strip.hidden;
    at("clock").hidden = lacks && strip.hidden;
    at("choose").textContent = lacks ? "Select the file; it stays on this computer." : "Video not playing? Select the file";
    if (lacks && file) at("path").textContent = `${file.name} can't be played by this browser.`;
    else if (lacks && this.facts.source) at("path").textContent = `${name} can't be reached from here, or this browser can't play it.`;
    else if (lacks) at("path").textContent = `${name}: the page doesn't hold it.`;
    else at("path").textContent = file ? file.name : clipped ? `${name}: a small clip${cut}` : name;
  },
  asStrip(wanted) {
    const frames = this.facts.strip || [];
    strip.hidden = !(wanted && frames.length);
    video.hidden = !strip.hidden;
    at("pace").hidden = video.hidden;
    if (strip.hidden) { strip.replaceChildren(); return; }
    strip.replaceChildren(...frames.map(([source, time]) => {
      const picture = h("img", { src: source, alt: `Frame at ${clock(time)}`, role: "option", tabindex: -1, loading: "lazy" });
      picture.addEventListener("click", () => this.seek(time));
      return picture;
    }));
    this.markStrip();
  },
  markStrip() {
    const times = (this.facts.strip || []).map(([, time]) => time);
    const last = times.findLastIndex((time) => time <= this.stripTime + 1e-6);
    [...strip.children].forEach((picture, place) => {
      const here = place === Math.max(0, last);
      picture.setAttribute("aria-selected", String(here));
      picture.tabIndex = here ? 0 : -1;
      if (here) picture.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  },
  tick() {
    at("time").textContent = `${clock(this.time)} of ${clock(this.length)}`;
    const share = this.length ? 100 * this.time / this.length : 0;
    for (const now of document.querySelectorAll(".bar .now")) now.style.left = `${share}%`;
    const [start, end] = this.looped || [];
    if (this.looped && !video.paused && (this.time >= end || this.time < start - .5)) this.seek(start);
  },
};
let clip = null; // address of what is played out of memory
// "clip:7" -> the clip that is in the page.
function clipOf(source) {
  const text = atob(at(source.replace(":", "-")).textContent);
  return new Blob([Uint8Array.from(text, (letter) => letter.charCodeAt(0))], { type: "video/mp4" });
}
// A video's name as its file has it.
const nameOf = (key) => {
  const { source, name } = review.videos[key];
  return name || decodeURI((source && !source.startsWith("clip") ? source : key).split("/").pop());
};
const stem = (name) => name.split("/").pop().replace(/\.[^.]+$/, "").toLowerCase();
// Files are taken for the videos that are called like them; one that is called like none, for the video that is shown.
function choose(files) {
  const keys = Object.keys(review.videos);
  let taken = 0;
  for (const file of files) {
    const key = keys.find((name) => stem(name) === stem(file.name) || stem(nameOf(name)) === stem(file.name)) ?? (files.length === 1 ? player.shown : null);
    if (!key) continue;
    player.chosen[key] = file;
    taken += 1;
  }
  const key = player.shown;
  player.shown = null;
  player.load(key);
  if (files.length > 1) tell(`${taken} of ${files.length} files are videos of this page, by their names.`);
}
// Seconds are what is written; minutes help the eye.
function clock(time) {
  const seconds = `${(time || 0).toFixed(2)} s`;
  return time >= 60 ? `${Math.floor(time / 60)}:${(time % 60).toFixed(2).padStart(5, "0")} (${seconds})` : seconds;
}
// "83.4", "1:23.4" or "0:01:23.4" -> seconds; NaN where it is none.
function secondsOf(text) {
  const parts = text.trim().replace(",", ".").split(":");
  if (parts.length > 3 || parts.some((part, place) => !/^\d+(\.\d*)?$/.test(part) || (place < parts.length - 1 && part.includes(".")))) return NaN;
  return parts.reduce((sum, part) => sum * 60 + Number(part), 0);
}
const rounded = (time) => Math.round(time * 1000) / 1000;

at("speed").append(...SPEEDS.map((speed) => h("option", { value: String(speed), text: `${speed} ×` })));
at("speed").addEventListener("change", () => player.setSpeed(Number(at("speed").value)));
player.setSpeed(1);
video.addEventListener("error", () => {
  if (!video.hasAttribute("src")) return;
  if (player.facts.strip && !player.chosen[player.shown]) player.asStrip(true);
  player.lack(strip.hidden);
});
video.addEventListener("loadedmetadata", () => {
  const { duration } = player.facts;
  if (player.chosen[player.shown] && duration && Math.abs(video.duration - duration) > Math.max(1, duration / 50) && !player.facts.from)
    tell(`This file lasts ${clock(video.duration)}, the page's video ${clock(duration)}: is it the right one?`);
});
for (const event of ["timeupdate", "seeked", "loadedmetadata", "durationchange"]) video.addEventListener(event, () => player.tick());
video.addEventListener("loadedmetadata", () => document.dispatchEvent(new Event("length")));
(function smooth() { if (!video.paused) player.tick(); requestAnimationFrame(smooth); })();
strip.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const frames = player.facts.strip;
  const here = [...strip.children].findIndex((picture) => picture.tabIndex === 0);
  const next = Math.min(Math.max(0, here + step), frames.length - 1);
  player.seek(frames[next][1]);
  strip.children[next].focus();
});
at("replace").addEventListener("change", () => {
  const files = [...at("replace").files];
  if (files.length) choose(files);
  at("replace").value = "";
});
