// Runs before the first paint so that a dark screen never flashes white.
(() => {
  let choice = "system";
  try {
    choice = localStorage.getItem("qadra.theme") || "system";
  } catch {
    // Storage may be blocked; the system's preference is then used.
  }
  const dark =
    choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
