// The names of designs, cores and controllers beside the canvas: buttons that close what is below, and open it again.

class Labels {
  constructor(box, page) {
    this.page = page;
    this.box = box;
    this.made = page.groups.filter((group) => group.id).map((group) => ({ group, button: this.button(group) }));
    // A button that is reached by Tab is scrolled to by the page, not by the browser.
    box.addEventListener("scroll", () => (box.scrollTop = 0));
  }

  button(group) {
    const button = element("button", group.label, this.box);
    button.className = group.kind;
    button.addEventListener("click", () => this.page.toggle(group));
    button.addEventListener("focus", () => this.page.scrollTo(group));
    return button;
  }

  show() {
    for (const { group, button } of this.made) {
      button.hidden = !group.isShown;
      const isOpen = !this.page.isClosed(group);
      button.setAttribute("aria-expanded", String(isOpen));
      button.title = isOpen ? "Close" : "Open";
      button.style.transform = `translateY(${group.top - this.page.view.scroll}px)`;
      button.style.height = `${group.tall}px`;
    }
  }
}
