import type { Dice } from './proof.ts'

/** What is known of the node: where paid answers are, and payments that were made and used. */
export type Targets = {
  host: string
  paths: readonly string[]
  /** Values of PAYMENT-SIGNATURE whose payments have been served. */
  spent: readonly string[]
}

/** `last`: the server ends the connection after it, or could. */
export type FuzzedRequest = { bytes: Buffer; last: boolean }

const methods = ['GET', 'GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE']
const anyText = (dice: Dice, longest: number): string => {
  let text = ''
  for (let left = dice.below(longest); left > 0; left -= 1) text += String.fromCharCode(33 + dice.below(94))
  return text
}

/** A12: spellings of a path that other servers treat as the same one. */
function alterPath(path: string, dice: Dice): string {
  const at = dice.below(path.length)
  const percent = (index: number) => `%${path.charCodeAt(index).toString(16).padStart(2, '0')}`
  switch (dice.below(34)) {
    case 0:
      return `/${path}`
    case 1:
      return path.toUpperCase()
    case 2:
      return path.slice(0, at) + percent(at) + path.slice(at + 1)
    case 3:
      return path.replace('/', '/./')
    case 4:
      return `${path};${anyText(dice, 6)}`
    case 5:
      return `${path}%00`
    case 6:
      return `${path}%20`
    case 7:
      return `${path}/.`
    case 8:
      return `${path}/`
    case 9:
      return `/x/..${path}`
    case 10:
      return `/${path.slice(1).replaceAll('/', '%2f')}`
    case 11:
      return `/${path.slice(1).replaceAll('/', '\\')}`
    case 12:
      return `${path}#${anyText(dice, 8)}`
    case 13:
      return `${path}?${anyText(dice, 30).replaceAll('#', '')}`
    case 14:
      return `${path}?of=a&of=b&_method=GET`
    case 15:
      return `${path}.json`
    case 16:
      return path.slice(0, at) + anyText(dice, 3).replaceAll(/[#?]/g, '') + path.slice(at)
    default:
      return path
  }
}

/** One letter of a payment's JSON is another: the payment itself was used long ago. */
function alterPayment(header: string, dice: Dice): string {
  const json = Buffer.from(header, 'base64')
  for (let left = 1 + dice.below(3); left > 0; left -= 1) json[dice.below(json.length)] = 33 + dice.below(94)
  return json.toString('base64')
}

const overrides = ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method', '_method']
const rewrites = ['X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Path', 'X-Forwarded-Prefix']
const credentials = ['Authorization', 'Cookie', 'SIGN-IN-WITH-X', 'X-API-Key', 'Idempotency-Key', 'Signature']

function header(targets: Targets, dice: Dice): string {
  switch (dice.below(20)) {
    case 0:
      return `${dice.pick(overrides)}: ${dice.pick(['GET', 'POST'])}`
    case 1:
      return `${dice.pick(rewrites)}: ${dice.pick(targets.paths)}`
    case 2:
      return `${dice.pick(['X-Forwarded-Host', 'X-Forwarded-Proto', 'Forwarded', 'X-Forwarded-For'])}: ${dice.pick(['127.0.0.1', 'localhost', 'https'])}`
    case 3:
      return `Range: bytes=${dice.below(9)}-${dice.below(99)}`
    case 4:
      return `If-None-Match: ${dice.pick(['*', `"${anyText(dice, 8)}"`])}`
    case 5:
      return 'If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT'
    case 6:
      return `PAYMENT-SIGNATURE: ${anyText(dice, 60)}`
    case 7:
      return `PAYMENT-SIGNATURE: ${dice.pick(targets.spent)}`
    case 8:
      return `PAYMENT-SIGNATURE: ${alterPayment(dice.pick(targets.spent), dice)}`
    case 9:
      return `X-PAYMENT: ${dice.pick(targets.spent)}`
    case 10:
      return `PAYMENT-SIGNATURE: ${Buffer.from(JSON.stringify(dice.pick([null, {}, [], { x402Version: 2 }, { x402Version: 2, payload: { __proto__: {} } }]))).toString('base64')}`
    case 11:
      return `${dice.pick(credentials)}: ${dice.pick(['Bearer ', 'Pass ', 'Basic ', ''])}${anyText(dice, 40)}`
    case 12:
      return `Accept: ${dice.pick(['*/*', 'text/csv', 'text/event-stream', 'text/html', 'application/json;q=0', anyText(dice, 10)])}`
    case 13:
      return `Content-Type: ${dice.pick(['application/json', 'text/plain', 'application/x-www-form-urlencoded', anyText(dice, 10)])}`
    case 14:
      return `Content-Encoding: ${dice.pick(['gzip', 'br', 'identity'])}`
    case 15:
      return `PAYMENT-RESPONSE: ${Buffer.from('{"success":true}').toString('base64')}`
    case 16:
      return `Cache-Control: ${dice.pick(['only-if-cached', 'max-stale', 'no-cache'])}`
    case 17:
      return `Signature-Input: sig1=("@method");created=1;keyid="${anyText(dice, 20)}"`
    case 18:
      return `X-Affiliate-ID: 0x${'1'.repeat(40)}`
    default:
      return `X-${dice.below(1_000)}: ${anyText(dice, 40)}`
  }
}

/** What only a broken client would send; the server may hang up on it. */
function strange(targets: Targets, dice: Dice): string {
  const path = dice.pick(targets.paths)
  const host = `Host: ${targets.host}`
  switch (dice.below(10)) {
    case 0:
      return `CONNECT ${targets.host} HTTP/1.1\r\n${host}\r\n\r\n`
    case 1:
      return `GET ${path} HTTP/1.0\r\n\r\n`
    case 2:
      return `GET ${path} HTTP/1.1\r\n${host}\r\n${host}\r\n\r\n`
    case 3:
      return `POST ${path} HTTP/1.1\r\n${host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET ${path} HTTP/1.1\r\n${host}\r\n\r\n`
    case 4:
      return `GET ${path} HTTP/1.1\r\nHost: ${anyText(dice, 12)}\r\nConnection: close\r\n\r\n`
    case 5:
      return `GET ${path} HTTP/1.1\r\n${host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${dice.pick(['h2c', 'websocket'])}\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`
    case 6:
      return `GET ${path} HTTP/1.1\r\n${host}\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`
    case 7:
      return `${dice.pick(['get', 'Get', 'PROPFIND', 'QUERY', 'GE T'])} ${path} HTTP/1.1\r\n${host}\r\n\r\n`
    case 8:
      return `GET ${path} ${anyText(dice, 9)}\r\n${host}\r\n\r\n`
    default:
      return `${anyText(dice, 60)}\r\n\r\n`
  }
}

/** One request that pays for nothing, as bytes. */
export function fuzzRequest(targets: Targets, dice: Dice): FuzzedRequest {
  if (dice.below(500) === 0) return { bytes: Buffer.from(strange(targets, dice), 'latin1'), last: true }
  const method = dice.pick(methods)
  const path = alterPath(dice.pick(targets.paths), dice)
  const target = dice.below(30) === 0 ? `http://${targets.host}${path}` : path
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${targets.host}`]
  for (let left = dice.below(5); left > 0; left -= 1) lines.push(header(targets, dice))
  const body = dice.below(12) === 0 ? dice.pick(['{}', '{"of":"a"}', '{"message":"x"}', anyText(dice, 60)]) : ''
  if (body !== '' && dice.below(3) === 0)
    return {
      bytes: Buffer.from(
        `${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
        'latin1',
      ),
      last: false,
    }
  if (body !== '') lines.push(`Content-Length: ${body.length}`)
  return { bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1'), last: false }
}
