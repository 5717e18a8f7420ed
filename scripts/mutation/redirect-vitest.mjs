// A loader hook: imports of vitest resolve to the stand-in.
const standIn = new URL('./vitest-stand-in.mjs', import.meta.url).href

export function resolve(specifier, context, next) {
  return specifier === 'vitest' ? { url: standIn, shortCircuit: true } : next(specifier, context)
}
