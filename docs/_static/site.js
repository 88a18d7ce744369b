// The theme's toggles of the sidebar have an icon and no name; screen readers need one.
document.addEventListener("DOMContentLoaded", () => {
  for (const toggle of document.querySelectorAll("summary:has(.toctree-toggle)")) {
    toggle.setAttribute("aria-label", "Show or hide pages below");
  }
});
