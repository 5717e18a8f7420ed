import { createHash, randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { postJson } from './harness/post-json.ts'
import { echoPath, quote, send, signPayment } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till' })

const account = privateKeyToAccount(generatePrivateKey())
const did = `did:pkh:eip155:8453:${account.address.toLowerCase()}`

async function challenge(): Promise<{ message: string; info: Record<string, string> }> {
  const response = await fetch(
    `${till.node.url}/v1/auth/challenge`,
    postJson({ address: account.address, chain_id: 'eip155:8453' }),
  )
  expect(response.status).toBe(200)
  return (await response.json()) as { message: string; info: Record<string, string> }
}

async function signedHeader(): Promise<string> {
  const { message, info } = await challenge()
  const signature = await account.signMessage({ message })
  return Buffer.from(
    JSON.stringify({ ...info, address: account.address, chainId: 'eip155:8453', type: 'eip191', signature }),
  ).toString('base64')
}

const signIn = (header: string) =>
  fetch(`${till.node.url}/v1/auth/session`, { method: 'POST', headers: { 'sign-in-with-x': header } })

test('a signed challenge opens a session, once, even when it is sent many times at once', async () => {
  const header = await signedHeader()
  const responses = await Promise.all(Array.from({ length: 10 }, () => signIn(header)))
  expect(responses.filter((response) => response.status === 200)).toHaveLength(1)
  expect(responses.filter((response) => response.status === 401)).toHaveLength(9)
  const opened = responses.find((response) => response.status === 200) as Response
  const { token } = (await opened.json()) as { token: string }
  const who = await fetch(`${till.node.url}/v1/auth/session`, { headers: { authorization: `Bearer ${token}` } })
  expect(await who.json()).toEqual({ did })
  expect((await fetch(`${till.node.url}/v1/auth/session`)).status).toBe(401)
  // In the middle of the signature: its last byte is often zero, and the last bits of the text say nothing.
  const changed = `${token.slice(0, -40)}${token.at(-40) === 'A' ? 'B' : 'A'}${token.slice(-39)}`
  const refused = await fetch(`${till.node.url}/v1/auth/session`, { headers: { authorization: `Bearer ${changed}` } })
  expect(refused.status).toBe(401)
})

/** An ERC-8128 signature over exactly this request. */
async function signRequest(
  path: string,
  body: string,
  change: { body?: string; nonce?: string } = {},
): Promise<Record<string, string>> {
  const { host } = new URL(till.node.url)
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
  const created = Math.floor(Date.now() / 1000)
  const [pathname = '', query = ''] = path.split('?')
  const covered = ['"@method"', '"@authority"', '"@path"', ...(query ? ['"@query"'] : []), '"content-digest"']
  const params = `(${covered.join(' ')});created=${created};expires=${created + 30};nonce="${change.nonce ?? randomBytes(16).toString('hex')}";keyid="erc8128:8453:${account.address.toLowerCase()}"`
  const lines = [
    `"@method": POST`,
    `"@authority": ${host}`,
    `"@path": ${pathname}`,
    ...(query ? [`"@query": ?${query}`] : []),
    `"content-digest": ${digest}`,
    `"@signature-params": ${params}`,
  ]
  const signature = await account.signMessage({ message: lines.join('\n') })
  return {
    'content-type': 'application/json',
    'content-digest': digest,
    'signature-input': `sig1=${params}`,
    signature: `sig1=:${Buffer.from(signature.slice(2), 'hex').toString('base64')}:`,
  }
}

test('a request-bound signature is good for this request, and once', async () => {
  const body = JSON.stringify({ amount: '1' })
  const target = '/v1/auth/check?ref=0x1111111111111111111111111111111111111111'
  const headers = await signRequest(target, body)
  const post = (path: string, text: string) => fetch(`${till.node.url}${path}`, { method: 'POST', headers, body: text })
  expect((await post('/v1/auth/check', body)).status).toBe(401)
  expect((await post(target, JSON.stringify({ amount: '2' }))).status).toBe(401)
  const responses = await Promise.all([post(target, body), post(target, body), post(target, body)])
  expect(responses.map((response) => response.status).sort()).toEqual([200, 401, 401])
  const ok = responses.find((response) => response.status === 200)
  expect(await ok?.json()).toEqual({ did })
  const bare = await fetch(`${till.node.url}/v1/auth/check`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(bare.status).toBe(401)
  expect(bare.headers.get('accept-signature')).toContain('content-digest')
})

test('a payment with a proof that names another account is refused with 403 and takes nothing', async () => {
  const url = `${till.node.url}${echoPath}?message=hi`
  const payload = await signPayment(await till.newBuyer(), await quote(url))
  const refused = await send(url, payload, { headers: { 'sign-in-with-x': await signedHeader() } })
  expect(refused.status).toBe(403)
  expect(await refused.json()).toMatchObject({ code: 'forbidden' })
  const own = await signRequest(`${echoPath}?message=hi`, '')
  expect((await send(url, payload, { headers: own })).status).toBe(403)
  const served = await send(url, payload)
  expect(served.status).toBe(200)
})
