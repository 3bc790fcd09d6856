// Runs before the first paint: see build/theme-boot.ts. Keep the key in step with lib/settings.
(function () {
  let choice = "system";
  try {
    choice = JSON.parse(localStorage.getItem("openprogram.settings") || "{}").theme || "system";
  } catch {
    choice = "system"; // storage is blocked or holds something else: follow the system
  }
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
