// Fills the menu of versions from versions.json, which is beside the first page. The theme has such code, but needs an
// absolute address: below a prefix it finds nothing, and shows an empty menu.
document.addEventListener("DOMContentLoaded", async () => {
  if (location.protocol === "file:") return; // a browser does not read other files there
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const answer = await fetch(new URL("versions.json", root)).catch(() => null);
  const versions = answer?.ok ? await answer.json() : [];
  if (!versions.length) return;
  const page = `${DOCUMENTATION_OPTIONS.pagename}.html`;
  for (const container of document.querySelectorAll(".version-switcher__container")) {
    const [button, menu] = ["button", "menu"].map((part) => container.querySelector(`.version-switcher__${part}`));
    for (const { name, version, url } of versions) {
      const home = new URL(url, root);
      const entry = document.createElement("a");
      entry.className = "dropdown-item list-group-item list-group-item-action py-1";
      entry.setAttribute("role", "option");
      entry.href = new URL(page, home);
      entry.textContent = name;
      entry.addEventListener("click", async (event) => {
        event.preventDefault();
        const there = await fetch(entry.href, { method: "HEAD" }).catch(() => null);
        location.href = there?.ok ? entry.href : home.href; // a version may lack the page
      });
      const isThis = version === (DOCUMENTATION_OPTIONS.VERSION.includes(".dev") ? "dev" : DOCUMENTATION_OPTIONS.VERSION);
      entry.setAttribute("aria-selected", isThis);
      if (isThis) button.textContent = name;
      menu.append(entry);
    }
    container.classList.add("is-filled");
  }
});
