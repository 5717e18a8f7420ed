import type { ListedPage } from './sitemap.ts'

/** The other name of a site: the same people answer for `www` and the domain above it. */
export const twinOf = (host: string) => (host.startsWith('www.') ? host.slice(4) : `www.${host}`)

/** The address under the host of the source, where it is of the same site: http and https, with and without `www`. */
export function ownAddress(url: string, origin: string): string | undefined {
  if (!URL.canParse(url, origin)) return undefined
  const [target, own] = [new URL(url, origin), new URL(origin)]
  if (!/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '') return undefined
  const plain = target.port === '' && own.port === ''
  if (target.host !== own.host && !(plain && target.hostname === twinOf(own.hostname))) return undefined
  target.protocol = own.protocol
  target.host = own.host
  target.hash = ''
  return target.href.length <= 2_048 ? target.href : undefined
}

export const ownAddresses = (urls: readonly string[], origin: string): string[] => [
  ...new Set(urls.flatMap((url) => ownAddress(url, origin) ?? [])),
]

export const ownPages = (pages: readonly ListedPage[], origin: string): ListedPage[] =>
  pages.flatMap((page) => {
    const url = ownAddress(page.url, origin)
    return url === undefined ? [] : [{ ...page, url }]
  })
