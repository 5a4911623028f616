// The search: which items a text names, and from one to the next.

class Search {
  constructor(page) {
    this.page = page;
    this.box = document.getElementById("search");
    Object.assign(this, { matches: [], match: -1, matched: new Set() });
    this.box.addEventListener("input", () => this.find(0));
  }

  // Finds the items anew if the text is another, and selects the next one, the one before, or none.
  find(step) {
    const { page } = this, text = this.box.value.trim().toLowerCase();
    if (text !== this.sought) {
      this.sought = text;
      this.matches = text ? [...page.places.values()].map(({ item }) => item).filter((item) => this.says(item, text)) : [];
      this.matches.sort((a, b) => a.begin - b.begin);
      this.matched = new Set(this.matches);
      this.match = -1;
    }
    const count = this.matches.length;
    if (count && step) {
      this.match = this.match < 0 ? (step > 0 ? 0 : count - 1) : (this.match + step + count) % count;
      page.select(this.matches[this.match]);
    }
    const found = count ? `${count} found` : "no match";
    document.getElementById("found").textContent = !text ? "" : this.match >= 0 ? `${this.match + 1} of ${count}` : found;
    page.redraw();
  }

  // Whether an item's label has the text; `w12` and `op 12` are one write and one operation.
  says(item, text) {
    if (/^w\d+$/.test(text)) return item.kind === "write" && `w${item.index}` === text;
    if (/^op \d+$/.test(text)) return item.kind === "op" && `op ${item.index}` === text;
    const label = labelOf(this.page.data.designs[item.design], item).toLowerCase();
    return /^[a-z]+ \d+$/.test(text) ? label === text : label.includes(text);
  }
}
