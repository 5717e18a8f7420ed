// A node of the mesh written from docs/mesh-protocol.md alone: nothing of this repository is used, so that what the document
// leaves out shows. Only what JavaScript and Node bring.
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'

const b64u = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url')
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest()

const digestOf = (body: string) => `sha-256=:${sha256(body).toString('base64')}:`

/** RFC 8785 for what statements hold: strings, integers, lists, objects. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}

type Heard = { status: number; headers: Record<string, string>; body: string }
type Offer = Record<string, unknown> & { path: string; price_micro: string }

/** Section 1: `did:web:` and the host, the colon before a port written %3A. */
const didOf = (address: string) => `did:web:${new URL(address).host.replace(':', '%3A')}`

/** Its key, and the three kinds of signatures it makes. */
function createSigner(did: string, nowMs: () => number) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  // Section 1: the RFC 7638 thumbprint.
  const kid = b64u(sha256(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })))
  const signText = (text: string, encoding: BufferEncoding) => sign(null, Buffer.from(text, encoding), privateKey)
  return {
    keys: [{ kty: 'OKP', crv: 'Ed25519', kid, x, nbf: 0 }],
    /** Section 2. */
    statement(payload: object): string {
      const header = { alg: 'EdDSA', typ: 'x402-mesh+jws', kid: `${did}#${kid}` }
      const input = `${b64u(JSON.stringify(header))}.${b64u(canonical(payload))}`
      return `${input}.${b64u(signText(input, 'latin1'))}`
    },
    /** Section 3. */
    document(content: object): string {
      const value = b64u(signText(canonical(content), 'utf8'))
      return canonical({ ...content, signature: { alg: 'EdDSA', kid: `${did}#${kid}`, value } })
    },
    /** Sections 4 and 6: the headers that sign a message. */
    message(label: string, tag: string, seconds: number, parts: readonly [string, string][], nonce?: string) {
      const created = Math.floor(nowMs() / 1000)
      const once = nonce === undefined ? '' : `;nonce="${nonce}"`
      const params = `(${parts.map(([id]) => id).join(' ')});created=${created};expires=${created + seconds}${once};keyid="${kid}";alg="ed25519";tag="${tag}"`
      const base = [...parts.map(([id, value]) => `${id}: ${value}`), `"@signature-params": ${params}`].join('\n')
      const signature = `${label}=:${signText(base, 'latin1').toString('base64')}:`
      return { 'signature-input': `${label}=${params}`, signature }
    },
  }
}

type Signer = ReturnType<typeof createSigner>

export function secondImplementation(address: string, nowMs: () => number) {
  const did = didOf(address)
  const signer = createSigner(did, nowMs)
  const offers: Offer[] = [
    {
      ...{ capability: 'token.control.report', method: 'GET', path: '/reports/{address}', price_micro: '30000' },
      ...{ example: '/reports/0x1', networks: ['eip155:8453'] },
    },
  ]
  const peers: { did: string; address: string; sequence: number }[] = []
  let sequence = 0
  const at = (ms: number) => new Date(nowMs() + ms).toISOString()
  const statement = (): string => {
    sequence = Math.max(sequence + 1, nowMs())
    return signer.statement({
      ...{ protocol: '1.0.4', did, address, base_url: address, name: 'Second', sequence },
      ...{ issued_at: at(0), expires_at: at(900_000), networks: [{ network: 'eip155:8453', asset: '0x1' }], offers },
    })
  }
  let current = statement()
  const meshDocument = (): string =>
    signer.document({
      ...{ protocol: '1.0.4', generated_at: at(0), peers, changed: [], changed_until: nowMs(), next_page: null },
      node: { did, address, base_url: address, name: 'Second', sequence, statement: current, resources: {} },
      links: {
        manifest: `${address}/.well-known/x402`,
        mesh: `${address}/x402/mesh`,
        announce: `${address}/x402/mesh/announce`,
      },
    })
  return {
    address,
    did,
    peers,
    /** Says something else from now on. */
    price(priceMicro: string): void {
      for (const offer of offers) offer.price_micro = priceMicro
      current = statement()
    },
    answer(method: string, url: string): Heard {
      const { pathname } = new URL(url)
      const json = (body: string): Heard => ({ status: 200, headers: { 'content-type': 'application/json' }, body })
      if (pathname === '/.well-known/http-message-signatures-directory')
        return json(JSON.stringify({ keys: signer.keys }))
      if (pathname === '/x402/mesh') return json(meshDocument())
      if (pathname === '/x402/mesh/evidence') return json(JSON.stringify({ data: [], until_ms: nowMs() }))
      if (pathname === '/x402/mesh/announce') return json('{}')
      const offer = offers.find(({ path }) => pathname.startsWith(path.split('{')[0] ?? ''))
      if (offer === undefined) return { status: 404, headers: {}, body: '{}' }
      return challenge(signer, method, new URL(url), offer.price_micro)
    },
    announcement: (to: string) => announcement(signer, to, JSON.stringify({ address, statement: current })),
    read,
  }
}

/** Section 6: the 402 of a paid offer, signed. */
function challenge(signer: Signer, method: string, { origin, host, pathname, search }: URL, priceMicro: string): Heard {
  const exact = {
    scheme: 'exact',
    network: 'eip155:8453',
    amount: priceMicro,
    asset: '0x1',
    payTo: '0x2',
    maxTimeoutSeconds: 60,
  }
  const required = { x402Version: 2, resource: { url: `${origin}${pathname}` }, accepts: [exact] }
  const body = '{}'
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'content-digest': digestOf(body),
    'payment-required': Buffer.from(JSON.stringify(required)).toString('base64'),
  }
  const parts: [string, string][] = [
    ['"@status"', '402'],
    ...Object.entries(headers).map(([name, value]): [string, string] => [`"${name}"`, value]),
    ['"@method";req', method],
    ['"@authority";req', host],
    ['"@path";req', pathname],
    ['"@query";req', search || '?'],
  ]
  return { status: 402, headers: { ...headers, ...signer.message('sig', 'x402-response', 300, parts) }, body }
}

/** Section 4: what it sends to join through another node. */
function announcement(
  signer: Signer,
  to: string,
  body: string,
): { path: string; authority: string; headers: Record<string, string>; body: string } {
  const authority = new URL(to).host
  const path = '/x402/mesh/announce'
  const digest = digestOf(body)
  const parts: [string, string][] = [
    ['"@method"', 'POST'],
    ['"@authority"', authority],
    ['"@path"', path],
    ['"content-digest"', digest],
    ['"content-type"', 'application/json'],
  ]
  const signed = signer.message('second', 'x402-mesh', 60, parts, b64u(randomBytes(18)))
  const headers = { 'content-type': 'application/json', 'content-digest': digest, ...signed }
  return { path, authority, headers, body }
}

/** Section 5 and 7: what it learns from another node's document and that node's keys; undefined where a signature fails. */
function read(document: string, directory: string): { offers: Offer[]; names: string[] } | undefined {
  const { signature, ...content } = JSON.parse(document)
  const known = new Map<string, KeyObject>(
    JSON.parse(directory).keys.map((key: { kid: string; x: string }) => [
      `${content.node.did}#${key.kid}`,
      createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' }),
    ]),
  )
  const key = known.get(signature.kid)
  const bytes = Buffer.from(canonical(content))
  if (key === undefined || !verify(null, bytes, key, Buffer.from(signature.value, 'base64url'))) return undefined
  const [head = '', payload = '', mark = ''] = content.node.statement.split('.')
  const signer = known.get(JSON.parse(Buffer.from(head, 'base64url').toString()).kid)
  const signedBytes = Buffer.from(`${head}.${payload}`)
  if (signer === undefined || !verify(null, signedBytes, signer, Buffer.from(mark, 'base64url'))) return undefined
  const text = Buffer.from(payload, 'base64url').toString()
  const said = JSON.parse(text)
  if (canonical(said) !== text || said.did !== didOf(said.address)) return undefined
  return { offers: said.offers, names: content.peers.map((peer: { address: string }) => peer.address) }
}
