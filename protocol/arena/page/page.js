"use strict";
// The replay viewer. What is removed comes with the data; the rules are not here.
(() => {
  const COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
  const COLORS = ["black", "white"];
  const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight",
    "nine", "ten", "eleven", "twelve"];
  const CELL = 40; // all lengths are in the units of the board's viewBox
  const EDGE = 32; // between the outer lines and the edge, without labels
  const PAGE = 100;

  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const games = data.games.map(([name, setup, black, white, winner, end, reason,
    opening, moves, removed, counts, problem]) => ({
    name, setup: data.setups[setup], players: [black, white], winner, end, reason,
    opening, moves: split(moves), removed, counts, problem,
  }));

  let game = null; // the game shown
  let frames = []; // its positions, see unfold
  let move = 0; // the move shown, 0 for the start
  let found = []; // games that pass the filters
  let timer = 0; // of the running replay
  let addressTimer = 0;

  function split(text) {
    return text ? text.split(" ") : [];
  }

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function shape(tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function plural(count, noun) {
    return `${WORDS[count] ?? count} ${noun}${count === 1 ? "" : "s"}`;
  }

  function capital(text) {
    return text[0].toUpperCase() + text.slice(1);
  }

  // Positions. A board is a list of 0 for Black, 1 for White, null for empty.

  function pointOf(setup, vertex) {
    return (Number(vertex.slice(1)) - 1) * setup.width + COLUMNS.indexOf(vertex[0]);
  }

  function vertexOf(setup, point) {
    return COLUMNS[point % setup.width] + (Math.floor(point / setup.width) + 1);
  }

  function neighbours({ width, height }, point) {
    const column = point % width;
    return [
      column > 0 ? point - 1 : null,
      column < width - 1 ? point + 1 : null,
      point >= width ? point - width : null,
      point < width * (height - 1) ? point + width : null,
    ].filter((near) => near !== null);
  }

  // The positions of a game: the board after each move, and what the move removed.
  function unfold({ setup, moves, removed }) {
    const board = new Array(setup.width * setup.height).fill(null);
    setup.stones.forEach((stones, color) => {
      for (const vertex of split(stones)) board[pointOf(setup, vertex)] = color;
    });
    const unfolded = [{ board: [...board], point: null, removed: [] }];
    moves.forEach((vertex, i) => {
      const point = pointOf(setup, vertex);
      board[point] = i % 2;
      const gone = split(removed[i + 1] ?? "").map((text) => pointOf(setup, text));
      const taken = gone.map((where) => ({ point: where, color: board[where] }));
      for (const where of gone) board[where] = null;
      unfolded.push({ board: [...board], point, color: i % 2, removed: taken });
    });
    return unfolded;
  }

  function links(setup, board) {
    const found = [];
    board.forEach((color, point) => {
      for (const near of neighbours(setup, point)) {
        if (color !== null && near > point && board[near] === color) {
          found.push([point, near, color]);
        }
      }
    });
    return found;
  }

  // Empty points beside exactly one stone of a colour.
  function growthPoints(setup, board, color) {
    return board.flatMap((stone, point) => {
      const own = neighbours(setup, point).filter((near) => board[near] === color);
      return stone === null && own.length === 1 ? [point] : [];
    });
  }

  // The board.

  function place(setup, point) {
    const margin = marginOf(setup);
    return {
      x: margin + (point % setup.width) * CELL,
      y: EDGE + (setup.height - 1 - Math.floor(point / setup.width)) * CELL,
    };
  }

  function labelSize({ width }) {
    return Math.max(11, width * 1.2);
  }

  // Left and below, where the labels are.
  function marginOf(setup) {
    return EDGE + 1.3 * labelSize(setup);
  }

  function drawLines(setup) {
    const margin = marginOf(setup);
    const right = margin + (setup.width - 1) * CELL;
    const bottom = EDGE + (setup.height - 1) * CELL;
    $("board").setAttribute("viewBox", `0 0 ${right + EDGE} ${bottom + margin}`);
    const size = labelSize(setup);
    const lines = shape("g", { class: "lines" });
    const labels = shape("g", { "aria-hidden": "true" });
    const style = `font-size:${size}px`;
    for (let i = 0; i < setup.width; i++) {
      const x = margin + i * CELL;
      lines.append(shape("line", { x1: x, x2: x, y1: EDGE, y2: bottom }));
      labels.append(shape("text", { x, y: bottom + margin - size * 0.95, style }, COLUMNS[i]));
    }
    for (let i = 0; i < setup.height; i++) {
      const y = bottom - i * CELL;
      lines.append(shape("line", { x1: margin, x2: right, y1: y, y2: y }));
      labels.append(shape("text", { x: size * 1.2, y, style }, i + 1));
    }
    $("board").toggleAttribute("hidden", !setup.width); // an unknown set-up
    $("board").replaceChildren(lines, labels, shape("g", { id: "stones" }));
  }

  function drawStones(setup, frame) {
    const removed = new Array(frame.board.length).fill(null);
    for (const { point, color } of frame.removed) removed[point] = color;
    const group = $("stones");
    group.replaceChildren(
      ...drawRoots(setup, removed, " removed"),
      ...drawRoots(setup, frame.board, ""),
      ...frame.removed.map(({ point }) => cross(place(setup, point))),
    );
    if ($("growth").checked) group.append(...drawGrowth(setup, frame.board));
    if (frame.point !== null) {
      const { x, y } = place(setup, frame.point);
      const color = COLORS[frame.color];
      group.append(shape("circle", { class: `mark ${color}`, cx: x, cy: y, r: 6.5 }));
    }
  }

  function drawRoots(setup, board, extra) {
    const group = shape("g", { class: `roots${extra}` });
    const drawn = links(setup, board);
    for (const [from, to, color] of drawn.filter((link) => link[2] === 1)) {
      group.append(line(setup, from, to, `link edge ${COLORS[color]}`));
    }
    board.forEach((color, point) => {
      if (color === null) return;
      const { x, y } = place(setup, point);
      group.append(shape("circle", {
        class: `stone ${COLORS[color]}`, cx: x, cy: y, r: 15,
        "data-vertex": vertexOf(setup, point),
      }));
    });
    for (const [from, to, color] of drawn) {
      group.append(line(setup, from, to, `link ${COLORS[color]}`));
    }
    return [group];
  }

  function line(setup, from, to, name) {
    const a = place(setup, from);
    const b = place(setup, to);
    return shape("line", { class: name, x1: a.x, y1: a.y, x2: b.x, y2: b.y });
  }

  function cross({ x, y }) {
    const arm = 8;
    return shape("path", {
      class: "cross",
      d: `M${x - arm} ${y - arm}L${x + arm} ${y + arm}M${x - arm} ${y + arm}L${x + arm} ${y - arm}`,
    });
  }

  // A dot for each colour that can grow there, side by side where both can.
  function drawGrowth(setup, board) {
    const points = COLORS.map((_, color) => growthPoints(setup, board, color));
    return COLORS.flatMap((name, color) =>
      points[color].map((point) => {
        const { x, y } = place(setup, point);
        const aside = points[1 - color].includes(point) ? 5.5 : 0;
        const cx = x + (color ? aside : -aside);
        const vertex = vertexOf(setup, point);
        return shape("circle", { class: `growth ${name}`, cx, cy: y, r: 4, "data-vertex": vertex });
      }));
  }

  // Words.

  function engine(color) {
    return data.engines[game.players[color]];
  }

  function isolated(text) {
    return element("bdi", {}, text);
  }

  function disc(color) {
    return element("span", { class: `disc ${COLORS[color]}`, "aria-hidden": "true" });
  }

  function outcome({ winner, end }) {
    if (winner < 0) return `no result (${data.ends[end]})`;
    return `${capital(COLORS[winner])} won (${data.ends[end]})`;
  }

  function removalWords(frame) {
    const parts = COLORS.flatMap((name, color) => {
      const gone = frame.removed.filter((stone) => stone.color === color);
      if (!gone.length) return [];
      const vertices = gone.map((stone) => vertexOf(game.setup, stone.point));
      return [`${plural(gone.length, `${name} stone`)} (${vertices.join(", ")})`];
    });
    return parts.length ? ` It removes ${parts.join(" and ")}.` : "";
  }

  function caption() {
    const frame = frames[move];
    const last = move === frames.length - 1;
    let text = `Start of ${game.setup.name}, ${plural(game.moves.length, "move")} to come.`;
    if (move) {
      const color = capital(COLORS[frame.color]);
      const book = move <= game.opening ? " (opening)" : "";
      text = `Move ${move} of ${game.moves.length}: ${color} ${game.moves[move - 1]}${book}.`;
    }
    text += removalWords(frame);
    if (last && game.problem) text += ` The record goes on but cannot be replayed. ${game.problem}`;
    if (last) text += ` ${capital(outcome(game))}${game.reason ? `: ${game.reason}` : ""}.`;
    return text;
  }

  function drawSides(board) {
    const found = links(game.setup, board);
    $("sides").replaceChildren(...COLORS.map((name, color) => {
      const stones = board.filter((stone) => stone === color).length;
      // Roots are trees: each link makes one root of two.
      const roots = stones - found.filter((link) => link[2] === color).length;
      const growth = growthPoints(game.setup, board, color).length;
      const meta = `${stones} stones, ${roots} roots, ${growth} growth points`;
      return element("li", {}, disc(color), isolated(engine(color)),
        element("span", { class: "meta" }, meta));
    }));
  }

  // Showing a game and a move.

  function show(chosen, number) {
    if (game !== chosen) {
      game = chosen;
      frames = unfold(game);
      drawLines(game.setup);
      drawMoves();
      $("slider").max = frames.length - 1;
      $("players").replaceChildren(...[0, 1].flatMap((color) => [
        color ? " – " : "",
        disc(color),
        element("bdi", color === game.winner ? { class: "won" } : {}, engine(color)),
      ]));
      const counts = game.counts ? "" : " · does not count";
      $("outcome").textContent =
        `Game ${game.name} · ${game.setup.name} · ${outcome(game)}${counts}`;
      markGame();
    }
    go(number);
  }

  function go(number) {
    move = Math.max(0, Math.min(number, frames.length - 1));
    const frame = frames[move];
    drawStones(game.setup, frame);
    drawSides(frame.board);
    const words = caption();
    $("caption").textContent = words;
    $("board").setAttribute("aria-label", `Board. ${words}`);
    $("slider").value = move;
    $("slider").setAttribute("aria-valuetext", `move ${move} of ${frames.length - 1}`);
    for (const id of ["first", "back"]) $(id).disabled = move === 0;
    for (const id of ["next", "last"]) $(id).disabled = move === frames.length - 1;
    $("removal").disabled = nextRemoval() < 0;
    $("link").setAttribute("href", `#game-${game.name}/move-${move}`);
    markMove();
  }

  // The reader stepped: follow in the address bar, not more often than browsers allow.
  function step(number) {
    go(number);
    clearTimeout(addressTimer);
    addressTimer = setTimeout(
      () => history.replaceState(null, "", $("link").getAttribute("href")), 400);
  }

  function nextRemoval() {
    return frames.findIndex((frame, i) => i > move && frame.removed.length > 0);
  }

  function togglePlay(on) {
    clearInterval(timer);
    timer = on ? setInterval(advance, 700) : 0;
    $("play").setAttribute("aria-pressed", String(on));
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  }

  function advance() {
    if (move === frames.length - 1) togglePlay(false);
    else step(move + 1);
  }

  function drawMoves() {
    $("moves").replaceChildren(...game.moves.map((vertex, i) => {
      const gone = frames[i + 1].removed.length;
      const aside = gone ? `removes ${gone}` : i < game.opening ? "opening" : "";
      return element("li", {}, element("button", { type: "button", "data-move": i + 1 },
        element("span", { class: "number" }, String(i + 1)), disc(i % 2), vertex,
        element("span", { class: gone ? "aside odd" : "aside" }, aside)));
    }));
  }

  function markMove() {
    const list = $("moves");
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const current = list.querySelector(`[data-move="${move}"]`);
    current?.setAttribute("aria-current", "step");
    // Only the list scrolls, never the page.
    list.scrollTop = current ? current.offsetTop - list.clientHeight / 2 : 0;
  }

  // The list of games.

  function passes({ players, winner, end, setup }) {
    const name = $("by-engine").value;
    const color = players.indexOf(Number(name));
    if (name !== "" && color < 0) return false;
    if ($("by-setup").value !== "" && setup !== data.setups[$("by-setup").value]) return false;
    switch ($("by-result").value) {
      case "black": return winner === 0;
      case "white": return winner === 1;
      case "won": return name === "" || winner === color;
      case "lost": return name === "" || winner === 1 - color;
      case "forfeit": return data.forfeits[end];
      case "none": return winner < 0;
      default: return true;
    }
  }

  function filter() {
    for (const option of $("by-result").options) {
      if (["won", "lost"].includes(option.value)) option.disabled = !$("by-engine").value;
    }
    if ($("by-result").selectedOptions[0].disabled) $("by-result").value = "";
    found = games.filter(passes);
    $("found").textContent = `${found.length} of ${games.length} games`;
    $("games").replaceChildren();
    listMore();
  }

  function listMore() {
    const list = $("games");
    list.querySelector("button")?.parentElement.remove();
    const from = list.children.length;
    list.append(...found.slice(from, from + PAGE).map(listed));
    if (found.length > from + PAGE) {
      const more = element("button", { type: "button" }, "Show more");
      more.addEventListener("click", () => {
        listMore();
        list.children[from + PAGE].firstElementChild.focus();
      });
      list.append(element("li", {}, more));
    }
    markGame();
  }

  function listed(one) {
    const names = [0, 1].flatMap((color) => [
      color ? " – " : "",
      disc(color),
      element(color === one.winner ? "b" : "span", {},
        isolated(data.engines[one.players[color]])),
    ]);
    const meta = `${one.name} · ${one.setup.name} · ${plural(one.moves.length, "move")} · `;
    const odd = data.forfeits[one.end] || one.winner < 0;
    return element("li", {}, element("a", { href: `#game-${one.name}` }, ...names,
      element("span", { class: "meta" }, meta,
        element("span", odd ? { class: "odd" } : {}, data.ends[one.end]))));
  }

  function markGame() {
    const list = $("games");
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    if (game === null) return;
    const current = list.querySelector(`a[href="#game-${game.name}"]`);
    current?.setAttribute("aria-current", "true");
  }

  // The address: #game-12.0 or #game-12.0/move-30.

  function follow() {
    const match = /^#game-([0-9.]+)(?:\/move-([0-9]+))?$/.exec(location.hash);
    if (match === null) return;
    togglePlay(false);
    clearTimeout(addressTimer);
    const chosen = games.find((one) => one.name === match[1]);
    if (chosen) show(chosen, Number(match[2] ?? 0));
    else $("caption").textContent = `Game ${match[1]} is not among those on this page.`;
    const box = $("board").getBoundingClientRect();
    if (box.top < 0 || box.bottom > innerHeight) $("players").scrollIntoView();
    $("board").focus({ preventScroll: true });
  }

  const KEYS = {
    ArrowLeft: () => move - 1,
    ArrowRight: () => move + 1,
    Home: () => 0,
    End: () => frames.length - 1,
  };

  function start() {
    $("no-games").hidden = games.length > 0;
    if (!games.length) return;
    $("viewer").hidden = false;
    data.engines.forEach((name, i) => $("by-engine").append(element("option", { value: i }, name)));
    data.setups.forEach(({ name }, i) => $("by-setup").append(element("option", { value: i }, name)));
    for (const id of ["by-engine", "by-result", "by-setup"]) $(id).addEventListener("change", filter);
    const press = (id, act) => $(id).addEventListener("click", act);
    press("first", () => step(0));
    press("back", () => step(move - 1));
    press("next", () => step(move + 1));
    press("last", () => step(frames.length - 1));
    press("removal", () => step(nextRemoval()));
    press("play", () => {
      if (!timer && move === frames.length - 1) go(0);
      togglePlay(!timer);
    });
    $("slider").addEventListener("input", () => step(Number($("slider").value)));
    $("growth").addEventListener("change", () => go(move));
    $("moves").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) step(Number(button.dataset.move));
    });
    $("board").addEventListener("keydown", (event) => {
      if (!(event.key in KEYS) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      step(KEYS[event.key]());
    });
    addEventListener("hashchange", follow);
    filter();
    show(games[0], 0);
    follow();
  }

  start();
})();
