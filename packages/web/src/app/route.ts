/** Where the visitor is: `#/token/0x…?wallet=0x…` is the page `token` with the rest and its query. */
export type Route = { page: string; rest: string[]; query: URLSearchParams }

/** The console lives behind `#`, so that every page opens with the one document the node serves at `/`. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [page = '', ...rest] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode)
  return { page: page === '' ? 'start' : page, rest, query: new URLSearchParams(search) }
}

export function linkTo(page: string, rest: readonly string[] = [], query: Record<string, string> = {}): string {
  const path = [page === 'start' ? '' : page, ...rest.map(encodeURIComponent)].join('/')
  const search = new URLSearchParams(query).toString()
  return `#/${path}${search === '' ? '' : `?${search}`}`
}

export function go(page: string, rest: readonly string[] = [], query: Record<string, string> = {}): void {
  location.hash = linkTo(page, rest, query)
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
