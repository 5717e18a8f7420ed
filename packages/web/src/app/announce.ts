import { createStore } from './store.ts'

/** What a screen reader announces; the shell holds the live region. */
export const announcement = createStore('')

export function announce(text: string): void {
  announcement.set(text)
}
