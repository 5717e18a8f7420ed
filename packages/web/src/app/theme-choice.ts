export type Theme = 'light' | 'dark'

/** What the visitor chose, and what the system prefers otherwise. */
export function themeNow(): Theme {
  const chosen = document.documentElement.dataset.theme
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  localStorage.setItem('assay.theme', theme)
}
