export type Theme = 'light' | 'dark'

/** What the visitor chose, and what the system prefers otherwise. */
export function themeNow(): Theme {
  const chosen = document.documentElement.dataset.theme
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** Tells when another theme shows: the visitor chose it, or the system changed its mind. */
export function onTheme(changed: () => void): () => void {
  const query = matchMedia('(prefers-color-scheme: dark)')
  query.addEventListener('change', changed)
  const choices = new MutationObserver(changed)
  choices.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => {
    query.removeEventListener('change', changed)
    choices.disconnect()
  }
}

export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  localStorage.setItem('assay.theme', theme)
}
