/** Numbers names in the order they are first seen. */
export function createNameTable() {
  const ids = new Map<string, number>()
  return {
    idOf: (name: string): number => {
      const known = ids.get(name)
      if (known !== undefined) return known
      ids.set(name, ids.size)
      return ids.size - 1
    },
    size: () => ids.size,
    all: () => [...ids.keys()],
  }
}
