import type { Plugin } from 'vitest/config'

/** Takes the lines of shops out of the list while it is loaded. */
export function withoutShops(names: readonly string[]): Plugin {
  return {
    name: 'without-shops',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/packages/node/src/shop-list.ts')) return undefined
      return names.reduce((text, name) => {
        const left = text
          .replace(new RegExp(`^import .*'\\./shops/${name}/index\\.ts'\n`, 'm'), '')
          .replace(new RegExp(`^  ${name}Shop,\n`, 'm'), '')
        if (left.includes(`${name}Shop`) || left === text) throw new Error(`${name} could not be removed`)
        return left
      }, code)
    },
  }
}
