import { vetUrl } from '../outbound/index.ts'
import type { Kind } from './endpoints.ts'

const mailPattern =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)+$/

/**
 * The one spelling of an endpoint, so that it counts once. What no request would ever be sent to is refused here; where a
 * name leads is checked with each request.
 */
export function targetOf(kind: Kind, text: string, demo: boolean): { target: string } | { problem: string } {
  if (kind === 'email') {
    if (text.length > 254 || !mailPattern.test(text)) return { problem: 'The target is not a mail address.' }
    const at = text.lastIndexOf('@')
    return { target: text.slice(0, at) + text.slice(at).toLowerCase() }
  }
  if (!URL.canParse(text)) return { problem: 'The target is not a URL.' }
  const url = new URL(text)
  const secure = url.protocol === 'https:' || (demo && url.protocol === 'http:' && url.hostname.endsWith('.test'))
  if (!secure || url.username !== '' || url.password !== '')
    return { problem: 'The target must be https, without user and password.' }
  url.hash = ''
  const isDemoName = { has: (host: string) => demo && host.endsWith('.test') }
  const mapped = { hosts: isDemoName, origins: new Set<string>() }
  const vetted = vetUrl(url.href, { plainHttp: demo, ownHosts: new Set(), mapped })
  if (!vetted.ok && vetted.reason !== 'url_invalid')
    return { problem: `The target cannot be reached: ${vetted.detail}.` }
  return url.href.length > 2_048 ? { problem: 'The target is too long.' } : { target: url.href }
}
