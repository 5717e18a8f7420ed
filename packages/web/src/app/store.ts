import { useEffect, useState } from 'preact/hooks'

/** A value that pages share. */
export type Store<T> = { get(): T; set(next: T): void; subscribe(heard: () => void): () => void }

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      value = next
      for (const heard of [...listeners]) heard()
    },
    subscribe: (heard) => {
      listeners.add(heard)
      return () => listeners.delete(heard)
    },
  }
}

export function useStore<T>(store: Store<T>): T {
  const [, again] = useState(0)
  useEffect(() => store.subscribe(() => again((count) => count + 1)), [store])
  return store.get()
}
