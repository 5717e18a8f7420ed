import type { EntitledScheme } from '../contract/entitled-scheme.ts'
import type { Scheme, Schemes } from '../contract/scheme.ts'

/** The schemes a till takes. Their order is that of `accepts`. */
export function createSchemes(all: readonly Scheme[], entitled: readonly EntitledScheme[] = []): Schemes {
  const byId = new Map(all.map((scheme) => [scheme.id, scheme]))
  if (byId.size < all.length) throw new Error('two payment schemes have the same id')
  const byName = new Map(entitled.map((scheme) => [scheme.name, scheme]))
  if (byName.size < entitled.length || all.some(({ name }) => byName.has(name)))
    throw new Error('a payment scheme that settles nothing shares its name')
  return {
    all,
    entitled: byName,
    named: (name, network) => all.filter((scheme) => scheme.name === name && scheme.supports(network)),
    of(claim) {
      const scheme = byId.get(claim.scheme)
      if (!scheme) throw new Error(`payment ${claim.id} is of the scheme ${claim.scheme}, which is not registered`)
      return scheme
    },
  }
}
