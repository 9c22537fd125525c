"use strict";
// Everything is readable without this. It adds: the filter, arrow keys in the graph, a line that says
// what is pointed at. It reads the page and sets text, never markup.
(() => {
  const cards = [...document.querySelectorAll(".card")];
  const filter = document.querySelector(".filter");
  const found = document.querySelector(".found");
  const fields = filter ? [...filter.querySelectorAll("input, select")] : [];
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const texts = new Map();
  const all = found ? found.textContent : "";

  const textOf = (card) => {
    if (!texts.has(card)) texts.set(card, fold(card.textContent));
    return texts.get(card);
  };

  const apply = () => {
    const words = fold(fields[0].value).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const card of cards) {
      const fits = fields.slice(1).every((field) =>
        !field.value || (card.dataset[field.name] || "").split(" ").includes(field.value));
      const text = words.length && fits ? textOf(card) : "";
      card.hidden = !(fits && words.every((word) => text.includes(word)));
      if (!card.hidden) shown += 1;
    }
    const filtered = words.length || fields.slice(1).some((field) => field.value);
    found.textContent = filtered ? `${shown} of the ${cards.length} capsules on this page fit.` : all;
  };

  const reset = () => {
    for (const field of fields) field.value = "";
    apply();
  };

  if (filter && cards.length) {
    filter.hidden = false;
    let waiting = 0;
    filter.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(apply, 80);
    });
    filter.addEventListener("change", apply);
    filter.querySelector("button").addEventListener("click", () => {
      reset();
      fields[0].focus();
    });
    apply(); // a reloaded page may come with what was typed
  }

  // A link to a capsule shows it, also when the filter hides it.
  const arrive = () => {
    const card = document.getElementById(location.hash.slice(1));
    if (!card || !card.classList.contains("card")) return;
    if (card.hidden) reset();
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", arrive);
  if (location.hash) arrive();

  // What need not be scrolled is no stop of the Tab key.
  for (const box of document.querySelectorAll(".scroll, .graph")) {
    const update = () => box.toggleAttribute("data-scrolls", box.scrollWidth > box.clientWidth)
      ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex");
    new ResizeObserver(update).observe(box);
    update();
  }

  // The graph is one stop of the Tab key; arrow keys go on from there.
  const chart = document.getElementById("chart");
  if (!chart) return;
  const readout = document.querySelector(".readout");
  const nodes = [...chart.querySelectorAll(".node")];
  const hint = readout.textContent;
  let current = nodes.length - 1;
  const select = (index, focus) => {
    nodes[current].setAttribute("tabindex", "-1");
    current = Math.max(0, Math.min(nodes.length - 1, index));
    nodes[current].setAttribute("tabindex", "0");
    if (focus) nodes[current].focus();
  };
  const say = (event) => {
    const node = event.target.closest(".node");
    if (node) readout.textContent = node.getAttribute("aria-label");
  };
  for (const node of nodes) node.setAttribute("tabindex", "-1");
  select(current, false);
  chart.addEventListener("keydown", (event) => {
    const to = {
      ArrowRight: current + 1, ArrowDown: current + 1, ArrowLeft: current - 1, ArrowUp: current - 1,
      Home: 0, End: nodes.length - 1,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    select(to, true);
  });
  chart.addEventListener("focusin", (event) => {
    const index = nodes.indexOf(event.target.closest(".node"));
    if (index >= 0) select(index, false);
    say(event);
  });
  chart.addEventListener("pointerover", say);
  chart.addEventListener("pointerleave", () => { readout.textContent = hint; });
  const box = chart.closest(".graph");
  // The newest first.
  box.scrollLeft += nodes[current].getBoundingClientRect().right + 48 - box.getBoundingClientRect().right;
})();
