// The explorer's page: the user's Python on the left, the program after a phase on the right. A click on a line of
// either side shows what belongs to it on the other. The data is what explorer/page.py describes.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const HEIGHT = 18;  // of a row, as in page.css
const LONGEST = 2000;  // characters of a line that are shown

// -- colours ---------------------------------------------------------------------------------------------------------

// What MLIR's syntax, assembly, PTX and Metal's language have in common. The class of a part is the name of its group.
const TOKENS = new RegExp([
  /(?<c>\/\/.*|^\s*#(?!\w).*)/, /(?<s>"(?:[^"\\]|\\.)*")/, /(?<v>[%@$][\w$.#-]+|\^\w+|[#!][\w.$-]+)/,
  /(?<k>\b(?:module|return|func\.func)\b|\b[A-Za-z_]\w*\.[A-Za-z_][\w.]*|^\s+[a-z][\w.]*(?=\t)|^\s*\.[a-z]\w*)/,
  /(?<n>\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\b)/,
].map((part) => part.source).join("|"), "g");

function* coloured(text) {
  for (const found of text.matchAll(TOKENS)) {
    const [kind] = Object.entries(found.groups).find(([, part]) => part !== undefined);
    yield [found.index, found.index + found[0].length, kind];
  }
}

function* ofSpans(spans) {
  for (let i = 0; i < spans.length; i += 3) yield [spans[i], spans[i + 1], spans[i + 2]];
}

/** Appends `text` to `row`, with its coloured parts and with what is searched for in it. */
function write(row, text, parts, wanted) {
  const shown = text.length > LONGEST ? text.slice(0, LONGEST) : text;
  const cuts = [];
  if (wanted) {
    const low = shown.toLowerCase();
    for (let at = low.indexOf(wanted); at >= 0; at = low.indexOf(wanted, at + wanted.length))
      cuts.push([at, at + wanted.length]);
  }
  const plain = (from, to, parent) => {
    for (const [begin, end] of cuts) {
      if (end <= from || begin >= to) continue;
      if (begin > from) parent.append(shown.slice(from, begin));
      const mark = parent.appendChild(document.createElement("mark"));
      mark.textContent = shown.slice(Math.max(from, begin), Math.min(to, end));
      from = Math.min(to, end);
    }
    if (from < to) parent.append(shown.slice(from, to));
  };
  let done = 0;
  for (const [begin, end, kind] of parts(shown)) {
    if (begin < done || begin >= shown.length) continue;
    plain(done, begin, row);
    const span = row.appendChild(document.createElement("span"));
    span.className = kind;
    plain(begin, Math.min(end, shown.length), span);
    done = end;
  }
  plain(done, shown.length, row);
  if (shown.length < text.length) row.append(` .. ${text.length - shown.length} more characters`);
}

// -- a list of which only the rows in view are there -----------------------------------------------------------------

class List {
  /** fill(row, i) writes row i; choose(i) is told of a click, or of the arrow keys. */
  constructor(pane, fill, choose) {
    Object.assign(this, {pane, fill, choose, count: 0, cursor: -1, rows: new Map()});
    this.sizer = pane.appendChild(document.createElement("div"));
    this.sizer.className = "sizer";
    this.sizer.role = "presentation";
    pane.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(pane);
    pane.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.choose(Number(row.dataset.i));
    });
    pane.addEventListener("keydown", (event) => {
      const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20}[event.key];
      if (!step || !this.count) return;
      event.preventDefault();
      this.choose(Math.max(0, Math.min(this.count - 1, this.cursor + step)));
      this.show(this.cursor);
    });
  }
  set(count, columns) {
    this.count = count;
    this.cursor = -1;
    this.sizer.style.height = `${count * HEIGHT}px`;
    this.sizer.style.width = `calc(${Math.min(columns, LONGEST + 40) + 10}ch + 10px)`;
    this.draw(true);
  }
  draw(anew = false) {
    const first = Math.max(0, Math.floor(this.pane.scrollTop / HEIGHT) - 10);
    const end = Math.min(this.count, Math.ceil((this.pane.scrollTop + this.pane.clientHeight) / HEIGHT) + 10);
    for (const [i, row] of this.rows)
      if (anew || i < first || i >= end) {
        row.remove();
        this.rows.delete(i);
      }
    for (let i = first; i < end; ++i) {
      if (this.rows.has(i)) continue;
      const row = document.createElement("div");
      row.className = "row";
      row.role = "option";
      row.id = `${this.pane.id}-${i}`;
      row.dataset.i = i;
      row.style.top = `${i * HEIGHT}px`;
      row.setAttribute("aria-posinset", i + 1);
      row.setAttribute("aria-setsize", this.count);
      row.setAttribute("aria-selected", "false");
      this.fill(row, i);
      this.sizer.append(row);
      this.rows.set(i, row);
    }
    if (this.rows.has(this.cursor)) this.pane.setAttribute("aria-activedescendant", `${this.pane.id}-${this.cursor}`);
    else this.pane.removeAttribute("aria-activedescendant");
  }
  /** Scrolls to row i, unless it is in view. */
  show(i) {
    const top = i * HEIGHT, view = this.pane.clientHeight;
    if (i >= 0 && (top < this.pane.scrollTop || top + 2 * HEIGHT > this.pane.scrollTop + view))
      this.pane.scrollTop = Math.max(0, top - view / 3);
    this.draw();
  }
}

// -- the difference between two phases -------------------------------------------------------------------------------

const MOST_EDITS = 2000;  // texts that differ in more are shown one after the other

/** The fewest edits that make `b` of `a` (Myers, 1986): [sign, line of a, line of b], sign one of " ", "-", "+". */
function difference(a, b) {
  const n = a.length, m = b.length, most = Math.min(n + m, MOST_EDITS), o = most + 1;
  const furthest = new Int32Array(2 * most + 3), rounds = [];
  const comesDown = (at, k, d) => k === -d || (k !== d && at(k - 1) < at(k + 1));
  for (let d = 0; d <= most; ++d) {
    rounds.push(furthest.slice(o - d - 1, o + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const at = (j) => furthest[j + o];
      let x = comesDown(at, k, d) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) ++x;
      furthest[k + o] = x;
      if (x >= n && x - k >= m) return wayBack(rounds, comesDown, n, m);
    }
  }
  return [...a.map((_, i) => ["-", i, 0]), ...b.map((_, i) => ["+", n, i])];
}

function wayBack(rounds, comesDown, x, y) {
  const edits = [];
  for (let d = rounds.length - 1; d >= 0; --d) {
    const at = (j) => rounds[d][j + d + 1];
    const k = x - y, before = comesDown(at, k, d) ? k + 1 : k - 1;
    const fromX = d ? at(before) : 0, fromY = d ? fromX - before : 0;
    while (x > fromX && y > fromY) edits.push([" ", --x, --y]);
    if (d) edits.push(x === fromX ? ["+", x, --y] : ["-", --x, y]);
  }
  return edits.reverse();
}

/** A line without the numbers of its values and maps, which change where any line before it does. */
const unnumbered = (line) => line.replace(/%[\w$.-]+|#map\d*/g, (name) => name[0]);

// -- what belongs together -------------------------------------------------------------------------------------------

// The rows of the source: a head for each file, and its lines. A place is the number of such a row.
const rows = [];
const rowOf = data.files.map((file, f) => {
  const head = rows.push({file, line: 0}) - 1;
  file.lines.forEach((text, i) => rows.push({file, line: i + 1}));
  return head;
});
const textOf = (row) => row.line ? row.file.lines[row.line - 1] : row.file.name;
const placesOf = data.origins.map((origin) => origin.at.map(([file, line]) => rowOf[file] + line));
const made = new Set(placesOf.flat());  // rows that some op was made of
const widest = (lines) => lines.reduce((most, line) => Math.max(most, line.length + 7 * line.split("\t").length), 0);

const state = {tab: 0, phase: 0, other: null, places: new Set(), wanted: ""};
let view = [];  // of each row: its phase, its line in there, and whether it is there only ("+", "-")

const isHit = (origin) => origin >= 0 && placesOf[origin].some((place) => state.places.has(place));
const phase = () => data.phases[state.phase];
const hitsOf = (p) => p.origins.flatMap((origin, i) => isHit(origin) ? [i] : []);
const originOf = (i) => view[i].of.origins[view[i].line];
const codeOf = (i) => view[i].of.lines[view[i].line];
const hitRows = () => view.flatMap((_, i) => isHit(originOf(i)) ? [i] : []);
const placeText = (place) => `${rows[place].file.name}:${rows[place].line}`;

/** "cotangent": what the derivative's pass made the op as; "" for the user's own. */
const markOf = (origin) => origin < 0 ? "" : data.origins[origin].marks[0] ?? "";

const source = new List(byId("source"), (row, i) => {
  const {file, line} = rows[i];
  if (!line) {
    row.classList.add("head");
    row.textContent = row.title = file.note ? `${file.name} (${file.note})` : file.name;
    return;
  }
  addNumber(row, line);
  write(row, textOf(rows[i]), () => ofSpans(file.spans[line - 1]), state.wanted);
  row.classList.toggle("none", !made.has(i));
  select(row, state.places.has(i), i === source.cursor);
}, (i) => {
  if (rows[i].line) choose([i], -1, i);
});

const code = new List(byId("phase"), (row, i) => {
  const origin = originOf(i), mark = markOf(origin), {line, sign} = view[i];
  addNumber(row, sign === " " ? line + 1 : `${sign} ${line + 1}`);
  write(row, codeOf(i), coloured, state.wanted);
  row.classList.toggle("added", sign === "+");
  row.classList.toggle("removed", sign === "-");
  if (mark) row.dataset.mark = mark.split(" ")[0];
  if (mark) row.title = data.origins[origin].marks.join(", from ");
  row.classList.toggle("none", origin < 0 || !placesOf[origin].length);
  select(row, isHit(origin), i === code.cursor);
}, (i) => {
  const origin = originOf(i);
  choose(origin < 0 ? [] : placesOf[origin], i, -1);
});

function addNumber(row, number) {
  const span = row.appendChild(document.createElement("span"));
  span.className = "number";
  span.textContent = number;
}

function select(row, isSelected, isHere) {
  row.classList.toggle("hit", isSelected);
  row.classList.toggle("here", isHere);
  row.setAttribute("aria-selected", String(isSelected));
}

/** The rows of the source that are chosen, by a click there (`row`) or on a line of the phase (`line`). */
function choose(places, line, row) {
  state.places = new Set(places);
  for (const pane of panes) pane.cursor = -1;
  code.cursor = line;
  source.cursor = row;
  tell();
  code.draw(true);
  source.draw(true);
  for (const pane of panes) pane.draw();
  if (line < 0 && places.length) code.show(hitRows()[0] ?? -1);
  if (row < 0 && places.length) source.show(Math.min(...places));
}

/** "1 line", "2 lines", "2 boxes" */
const counted = (count, word) => `${count} ${word}${count === 1 ? "" : word.endsWith("x") ? "es" : "s"}`;

/** The pane that is shown in place of a phase; undefined: a phase is shown. */
const paneOf = (tab) => panes[tab - data.phases.length];

/** "3 lines of linalg": what a tab has that is made of what is chosen. */
function countOf(tab) {
  const pane = paneOf(tab), count = pane ? pane.hits() : hitsOf(data.phases[tab]).length;
  return [count, `${counted(count, pane ? "box" : "line")} of ${pane ? pane.id : data.phases[tab].name}`];
}

function tell() {
  for (const [i, tab] of [...byId("tabs").children].entries()) {
    const [count, words] = state.places.size ? countOf(i) : ["", ""];
    tab.querySelector(".count").textContent = count;
    tab.title = words ? `${words}: made of what is chosen` : "";
  }
  const pane = paneOf(state.tab);
  let text = "Click a line, or use the arrow keys. Left and right: the phases. /: search. n: next line. Escape: none.";
  if (pane && pane.cursor >= 0) text = pane.tellOf(pane.cursor);
  else if (state.places.size) {
    const origin = pane || code.cursor < 0 ? -1 : originOf(code.cursor);
    text = `${[...state.places].map(placeText).join(", ")}${isHit(origin) ? wordsOf(origin) : ""}: ${countOf(state.tab)[1]}`;
  } else if (!pane && code.cursor >= 0) {
    const origin = originOf(code.cursor), places = origin < 0 ? [] : placesOf[origin];
    text = `${view[code.cursor].of.name}:${view[code.cursor].line + 1} is made of `
      + (places.length ? `${places.map(placeText).join(", ")}${wordsOf(origin)}` : "no line of yours");
  } else if (source.cursor >= 0) text = placeText(source.cursor);
  byId("status").textContent = byId("status").title = text;
}

/** " (cotangent, from tangent of tanh)": what made the op of a line; "" for the user's own. */
function wordsOf(origin) {
  const {marks} = data.origins[origin];
  return marks.length ? ` (${marks.join(", from ")})` : "";
}

// -- panes besides those of the phases -------------------------------------------------------------------------------

const panes = [];  // one for each tab after those of the phases

/** Boxes, each with places in the source. A click on one chooses them, and those of what is chosen are marked. */
class Pane {
  /** tellOf(i): what the status line says of box i. */
  constructor(id, items, tellOf) {
    Object.assign(this, {id, pane: byId(id), tellOf, boxes: [], texts: [], cursor: -1});
    this.places = items.map((item) => item.at.map(([file, line]) => rowOf[file] + line));
    this.pane.addEventListener("keydown", (event) => {
      const by = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (!by || !this.boxes.length) return;
      event.preventDefault();
      this.choose(Math.max(0, Math.min(this.boxes.length - 1, this.cursor + by)));
    });
    panes.push(this);
  }
  add(parent, kind) {
    const box = parent.appendChild(document.createElement("div")), i = this.boxes.push(box) - 1;
    box.className = kind;
    box.role = "option";
    box.id = `${this.id}-${i}`;
    box.addEventListener("click", () => this.choose(i));
    this.texts.push([]);
    return box;
  }
  /** Gives the latest box a text. */
  text(element, text) {
    this.texts.at(-1).push([element, text]);
    element.textContent = text;
  }
  /** Marks what is searched for; the boxes that have it. */
  look(has) {
    for (const [element, text] of this.texts.flat()) {
      element.replaceChildren();
      write(element, text, () => [], state.wanted);
    }
    return this.texts.flatMap((texts, i) => texts.some(([, text]) => has(text)) ? [i] : []);
  }
  show(i) {
    this.boxes[i]?.scrollIntoView({block: "nearest"});
  }
  isHit(i) {
    return this.places[i].some((place) => state.places.has(place));
  }
  hitBoxes() {
    return this.boxes.flatMap((_, i) => this.isHit(i) ? [i] : []);
  }
  hits() {
    return this.hitBoxes().length;
  }
  draw() {
    this.boxes.forEach((box, i) => select(box, this.isHit(i), i === this.cursor));
    if (this.cursor >= 0) this.pane.setAttribute("aria-activedescendant", `${this.id}-${this.cursor}`);
    else this.pane.removeAttribute("aria-activedescendant");
  }
  choose(i) {
    choose(this.places[i], -1, -1);
    this.cursor = i;
    this.draw();
    this.show(i);
    tell();
  }
}

// -- groups ----------------------------------------------------------------------------------------------------------

// The kernels in the order of the program, with what was measured of each. An arc goes from a kernel to those that read
// what it wrote; against the order, in the step of a loop before.
const GAP = 16, TALL = 46;  // pixels: between arcs, and of a kernel

function tellOfGroup(i) {
  const {reads, writes} = data.groups.ends[i], node = data.groups.nodes[i];
  const told = [`${node.name}: runs ${node.runs === 1 ? "once" : `${node.runs} times`} in a call`];
  if (reads.length) told.push(`reads the arguments ${reads.join(", ")}`);
  if (writes.length) told.push(`writes the results ${writes.join(", ")}`);
  if (node.help) told.push(node.help);
  return told.join("; ");
}

function part(parent, kind, text = "") {
  const found = parent.appendChild(document.createElement("span"));
  found.className = kind;
  found.textContent = text;
  return found;
}

function arc([from, to], left) {
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const y = (i) => TALL * i + TALL / 2;
  const x = left - GAP * Math.max(1, Math.min(6, Math.abs(to - from)));
  path.setAttribute("d", `M ${left} ${y(from) + 6} C ${x} ${y(from) + 6}, ${x} ${y(to) - 6}, ${left} ${y(to) - 6}`);
  path.setAttribute("class", from < to ? "arc" : "arc back");
  path.dataset.edge = `${from} ${to}`;
  return path;
}

if (data.groups) {
  const {nodes, edges} = data.groups, left = GAP * 6 + 8, groups = new Pane("groups", nodes, tellOfGroup);
  const svg = groups.pane.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  svg.setAttribute("width", left);
  svg.setAttribute("height", TALL * nodes.length);
  svg.setAttribute("aria-hidden", "true");
  svg.append(...edges.map((edge) => arc(edge, left)));
  const most = Math.max(...nodes.map((node) => node.seconds));
  nodes.forEach((node, i) => {
    const row = groups.add(groups.pane, "group");
    row.style.top = `${TALL * i}px`;
    row.style.left = `${left}px`;
    row.title = node.help;
    if (node.is_derivative) row.dataset.mark = "cotangent";
    part(row, "bar").style.width = `${most ? 100 * node.seconds / most : 0}%`;
    groups.text(part(row, "name"), node.name);
    groups.text(part(row, "where"), node.where);
    const [time, of, bytes, flops, share] = node.cells;
    groups.text(part(row, "cells"), `${time}, ${of} · ${bytes} · ${flops} · ${share} of the limit`);
  });
}

// -- memory ----------------------------------------------------------------------------------------------------------

// The arena: steps of the program from left to right, addresses from bottom to top.
if (data.memory) {
  const {summary, arena, steps, temporaries} = data.memory;
  const memory = new Pane("memory", temporaries, (i) => temporaries[i].text);
  const head = part(memory.pane, "summary", summary), plan = memory.pane.appendChild(document.createElement("div"));
  head.setAttribute("aria-hidden", "true");
  plan.className = "plan";
  plan.role = "presentation";
  for (const each of temporaries) {
    const box = memory.add(plan, "temporary");
    box.style.left = `${100 * each.begin / steps}%`;
    box.style.width = `${100 * (each.end + 1 - each.begin) / steps}%`;
    box.style.bottom = `${100 * each.offset / arena}%`;
    box.style.height = `${100 * each.bytes / arena}%`;
    box.title = each.text;
    memory.text(box, each.text);
  }
}

// -- phases ----------------------------------------------------------------------------------------------------------

[...data.phases.map((each) => each.name), ...panes.map((each) => each.id)].forEach((name, i) => {
  const tab = byId("tabs").appendChild(document.createElement("button"));
  tab.type = "button";
  tab.role = "tab";
  tab.setAttribute("aria-controls", i < data.phases.length ? "phase" : name);
  tab.append(name);
  tab.appendChild(document.createElement("span")).className = "count";
  tab.addEventListener("click", () => go(i));
});

function go(i) {
  const isPhase = i < data.phases.length;
  state.tab = i;
  byId("phase").hidden = !isPhase;
  panes.forEach((each, j) => { each.pane.hidden = i !== data.phases.length + j; });
  for (const [j, tab] of [...byId("tabs").children].entries()) {
    tab.setAttribute("aria-selected", String(i === j));
    tab.tabIndex = i === j ? 0 : -1;
  }
  byId("tabs").children[i].scrollIntoView({block: "nearest", inline: "nearest"});
  byId("compare").disabled = !isPhase;
  if (!isPhase) {
    paneOf(i).draw();
    tell();
    return look();
  }
  state.phase = i;
  byId("phase").scrollTop = 0;
  const now = phase(), before = state.other;
  view = before === null || before === now
    ? now.lines.map((_, line) => ({of: now, line, sign: " "}))
    : difference(before.lines.map(unnumbered), now.lines.map(unnumbered)).map(
      ([sign, a, b]) => sign === "-" ? {of: before, line: a, sign} : {of: now, line: b, sign});
  code.set(view.length, widest(view.map((_, i) => codeOf(i))));
  code.show(hitRows()[0] ?? -1);
  tell();
  look();
}

byId("compare").append(new Option("nothing", ""), ...data.phases.map((each, i) => new Option(each.name, i)));
byId("compare").addEventListener("change", () => {
  const chosen = byId("compare").value;
  state.other = chosen === "" ? null : data.phases[Number(chosen)];
  go(state.phase);
});

// -- search ----------------------------------------------------------------------------------------------------------

let matches = [], match = -1;  // [list, row] of each line with the words

function look() {
  const has = (text) => text.toLowerCase().includes(state.wanted);
  matches = [];
  match = -1;
  if (state.wanted) {
    rows.forEach((row, i) => { if (row.line && has(textOf(row))) matches.push([source, i]); });
    if (!paneOf(state.tab)) view.forEach((_, i) => { if (has(codeOf(i))) matches.push([code, i]); });
  }
  for (const pane of panes) {
    const found = pane.look(has);
    if (state.wanted && pane === paneOf(state.tab)) matches.push(...found.map((i) => [pane, i]));
  }
  byId("found").textContent = state.wanted ? counted(matches.length, paneOf(state.tab) ? "place" : "line") : "";
  source.draw(true);
  code.draw(true);
}

/** To the next line (or the one before) with the words, or of what is chosen where nothing is searched for. */
function step(by) {
  if (state.wanted) {
    if (!matches.length) return;
    match = match < 0 && by < 0 ? matches.length - 1 : (match + by + matches.length) % matches.length;
    const [list, i] = matches[match];
    byId("found").textContent = `${match + 1} of ${matches.length}`;
    goTo(list, i);
    return;
  }
  const list = paneOf(state.tab) ?? code, hits = list === code ? hitRows() : list.hitBoxes();
  if (!hits.length) return;
  const next = by > 0 ? hits.find((i) => i > list.cursor) : hits.findLast((i) => i < list.cursor);
  goTo(list, next ?? (by > 0 ? hits[0] : hits.at(-1)));
}

function goTo(list, i) {
  for (const each of [source, code, ...panes]) each.cursor = -1;
  list.cursor = i;
  for (const each of [source, code, ...panes]) each.draw(true);
  list.show(i);
  tell();
}

byId("search").addEventListener("input", () => {
  state.wanted = byId("search").value.toLowerCase();
  look();
});
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  if (event.key !== "Escape") return;
  event.preventDefault();  // else the browser empties the field, and the search goes on
  (paneOf(state.tab)?.pane ?? byId("phase")).focus();
});

// -- keys, themes ----------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (["INPUT", "SELECT"].includes(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  const last = byId("tabs").children.length - 1;
  const actions = {
    ArrowLeft: () => go(Math.max(0, state.tab - 1)),
    ArrowRight: () => go(Math.min(last, state.tab + 1)),
    "/": () => {
      byId("search").focus();
      byId("search").select(); // what is typed replaces the text of the last search
    },
    n: () => step(1),
    N: () => step(-1),
    Escape: () => choose([], -1, -1),
  };
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
});

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (prefersDark.matches ? "dark" : "light")) === "dark";
const nameTheme = () => { byId("theme").textContent = isDark() ? "Light" : "Dark"; };
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
prefersDark.addEventListener("change", nameTheme);

document.title = `${data.name}: xtensor explorer`;
byId("title").textContent = data.name;
byId("about").textContent = `(${data.inputs.join(", ")}) → ${data.outputs.join(", ")} on ${data.target}`;
byId("about").title = byId("about").textContent;
nameTheme();
source.set(rows.length, widest(rows.map(textOf)));
source.show(made.size ? Math.min(...made) : 0);
go(0);
})();
