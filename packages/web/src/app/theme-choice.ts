export type Theme = 'light' | 'dark'

/** What the visitor chose, and what the system prefers otherwise. */
export function themeNow(): Theme {
  const chosen = document.documentElement.dataset.theme
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** Tells when the system changes its mind; a choice of the visitor's own outlasts that. */
export function onSystemTheme(changed: () => void): () => void {
  const query = matchMedia('(prefers-color-scheme: dark)')
  query.addEventListener('change', changed)
  return () => query.removeEventListener('change', changed)
}

export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  localStorage.setItem('assay.theme', theme)
}
