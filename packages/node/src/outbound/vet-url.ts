import { isIP } from 'node:net'
import type { RefusedReason } from './outcome.ts'

export type VettedUrl = { url: URL; host: string; port: number; secure: boolean }

type Names = { has(name: string): boolean }

export type UrlRules = {
  plainHttp: boolean
  /** Hosts of this node, lower case: it never calls itself on somebody's behalf. */
  ownHosts: ReadonlySet<string>
  /** Hosts and whole origins that tests and the demo map to loopback. */
  mapped: { hosts: Names; origins: Names }
}

export type UrlVerdict = ({ ok: true } & VettedUrl) | { ok: false; reason: RefusedReason; detail: string }

const urlCharactersMax = 2_048

// Characters that another parser may read differently from WHATWG: backslash as slash, control characters dropped.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ambiguous = /[\\\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/

// RFC 6761, 6762, 7686, 8375, 9476 and the private-use TLD: nothing public is named so.
const specialNames = /(?:^|\.)(?:localhost|local|internal|test|example|invalid|onion|alt|lan|home|corp|home\.arpa)$/

/** The one parse of an address from outside; all that follows uses its result, never the text. */
export function vetUrl(text: string, rules: UrlRules): UrlVerdict {
  if (text.length > urlCharactersMax) return refuse('url_invalid', 'the URL is longer than 2,048 characters')
  if (ambiguous.test(text)) return refuse('url_invalid', 'the URL has a backslash, space or invisible character')
  if (!URL.canParse(text)) return refuse('url_invalid', 'this is not an absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('scheme', 'only https is spoken')
  if (url.username !== '' || url.password !== '' || /^[^/?#]*\/\/[^/?#]*@/.test(text))
    return refuse('userinfo', 'a URL with a user name or password is not asked')
  url.hash = ''
  const host = url.hostname.replace(/\.$/, '')
  const secure = url.protocol === 'https:'
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const vetted = { ok: true as const, url, host, port, secure }
  if (rules.mapped.origins.has(url.origin) || rules.mapped.hosts.has(host)) return vetted
  if (!secure && !rules.plainHttp) return refuse('scheme', 'only https is spoken')
  if (port !== (secure ? 443 : 80)) return refuse('port', 'only the standard ports 443 and 80 are asked')
  if (rules.ownHosts.has(host)) return refuse('own_host', 'this is an address of the node itself')
  if (host.startsWith('[') || isIP(host) !== 0) return refuse('host_not_allowed', 'name a domain, not an IP address')
  if (!host.includes('.')) return refuse('host_not_allowed', 'the host is not a public domain name')
  if (specialNames.test(host)) return refuse('host_not_allowed', 'the host has a reserved name that is not public')
  return vetted
}

const refuse = (reason: RefusedReason, detail: string): UrlVerdict => ({ ok: false, reason, detail })
