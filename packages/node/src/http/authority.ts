import type { RouteDeclaration } from './route.ts'

/** A name under which this node may be asked, as configured. */
export type Authority = {
  /** As RFC 9421 wants it: lower case, without the default port. */
  name: string
  base: boolean
  api: boolean
}

export type Authorities = {
  /** By the Host header; undefined when the name is not ours. */
  of(host: string | undefined): Authority | undefined
  baseOrigin: string
  apiOrigin: string
  apiName: string
  /** Used where the request itself names nothing usable. */
  fallback: Authority
}

export type AuthorityConfig = {
  baseUrl: string
  apiUrl: string
  demo: boolean
  /** Demo only: the port this process listens on, which is another than that of the shared public name. */
  localPort?: number
}

export function createAuthorities(config: AuthorityConfig): Authorities {
  const base = new URL(config.baseUrl)
  const api = new URL(config.apiUrl)
  const known = new Map<string, Authority>()
  const add = (url: URL, host: string, roles: { base: boolean; api: boolean }) => {
    const defaultPort = url.protocol === 'https:' ? '443' : '80'
    const name = host.toLowerCase()
    const earlier = known.get(name)
    const authority = { name, base: roles.base || !!earlier?.base, api: roles.api || !!earlier?.api }
    known.set(name, authority)
    if (url.port === '') known.set(`${name}:${defaultPort}`, authority)
  }
  add(base, base.host, { base: true, api: base.host === api.host })
  add(api, api.host, { base: base.host === api.host, api: true })
  if (config.demo) {
    const ports = new Set([base.port, ...(config.localPort === undefined ? [] : [String(config.localPort)])])
    for (const port of ports)
      for (const host of ['localhost', '127.0.0.1', '[::1]']) {
        const name = port === '' ? host : `${host}:${port}`
        if (!known.has(name)) add(base, name, { base: true, api: true })
      }
  }
  return {
    of: (host) => (host === undefined ? undefined : (known.get(host) ?? known.get(host.toLowerCase()))),
    baseOrigin: base.origin,
    apiOrigin: api.origin,
    apiName: api.host,
    fallback: { name: base.host, base: true, api: base.host === api.host },
  }
}

/** The origin of a route's resource: from configuration, never from the request. */
export function originOf(authorities: Authorities, area: RouteDeclaration['area']): string {
  return area === 'C' ? authorities.apiOrigin : authorities.baseOrigin
}

/** The name under which a route of this area is asked for, where the request does not say. */
export function homeName(authorities: Authorities, area: RouteDeclaration['area']): string {
  return area === 'C' ? authorities.apiName : authorities.fallback.name
}

/** Whether money for a route of this area may be asked under this name. */
export function isHome(authority: Authority, area: RouteDeclaration['area']): boolean {
  return area === 'C' ? authority.api : authority.base
}
