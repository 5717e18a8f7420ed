import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { fetchDirectory } from '../packages/sdk/src/index.ts'
import { decodePayment } from '../packages/till/src/schemes/exact/decode-exact.fixture.ts'
import { pythonClient, pythonMissing } from './harness/python-verifier.ts'
import { decodeHeader, echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till' })

type Recorded = {
  name: string
  status: number
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
  payment_required: string
}
const { recorded, payer } = JSON.parse(
  readFileSync(new URL('./vectors/python-x402.json', import.meta.url), 'utf8'),
) as { recorded: Recorded[]; payer: string }
const sentBy = ({ headers }: Recorded) => headers['PAYMENT-SIGNATURE'] as string

type Terms = { scheme: string; network: string; asset: string; amount: string; payTo: string } & {
  maxTimeoutSeconds: number
  extra: Record<string, string>
}
type Challenge = { x402Version: number; accepts: Terms[]; resource: Record<string, string>; extensions: unknown }
type Authorization = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>

/** The header as the Python client composes it: its order of members, its choice of them, everything that was offered echoed. */
function headerOf(challenge: Challenge, authorization: Authorization, signature: string): string {
  const [{ scheme, network, asset, amount, payTo, maxTimeoutSeconds, extra }] = challenge.accepts as [Terms]
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const { url, description, mimeType } = challenge.resource
  const payload = {
    x402Version: 2,
    payload: { authorization: { from, to, value, validAfter, validBefore, nonce }, signature },
    accepted: { scheme, network, asset, amount, payTo, maxTimeoutSeconds, extra },
    resource: { url, description, mimeType },
    extensions: challenge.extensions,
  }
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

const challengeOf = (one: Recorded) => decodeHeader(one.payment_required) as unknown as Challenge

describe.each(recorded.map((one) => [one.name, one] as const))(
  'what the x402 package for Python sent: %s',
  (_, one) => {
    test('is read, and nothing of it is lost', () => {
      const decoded = decodePayment(sentBy(one))
      const [{ network, amount, payTo }] = challengeOf(one).accepts as [Terms]
      expect(decoded).toMatchObject({
        status: 'ok',
        payment: {
          network,
          payer: payer.toLowerCase(),
          payTo: payTo.toLowerCase(),
          envelope: { amount, scheme: 'exact' },
        },
      })
    })

    test('is composed as this file composes it, to the byte', () => {
      const { authorization, signature } = (
        decodeHeader(sentBy(one)) as unknown as { payload: { authorization: Authorization; signature: string } }
      ).payload
      expect(headerOf(challengeOf(one), authorization, signature)).toBe(sentBy(one))
    })

    test('buys, sent to this node with its other headers', async () => {
      const { pathname, search } = new URL(one.url)
      const url = `${till.node.url}${pathname}${search}`
      const init = { method: one.method, ...(one.body === null ? {} : { body: one.body }) }
      const { 'PAYMENT-SIGNATURE': _sent, 'Content-Length': _length, Connection: _hop, ...others } = one.headers
      const first = await fetch(url, { ...init, headers: others })
      expect(first.status).toBe(402)
      const challenge = decodeHeader(first.headers.get('payment-required')) as unknown as Challenge
      const account = await till.newBuyer()
      const paid = await fetch(url, {
        ...init,
        headers: { ...others, 'PAYMENT-SIGNATURE': await signedAsInPython(account, challenge) },
      })
      expect(paid.status).toBe(200)
      expect(await paid.json()).toMatchObject({ paid_by: account.address })
    })
  },
)

async function signedAsInPython(account: PrivateKeyAccount, challenge: Challenge): Promise<string> {
  const [{ network, asset, amount, payTo, maxTimeoutSeconds, extra }] = challenge.accepts as [Terms]
  const now = Math.floor(Date.now() / 1000)
  const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(32)))
  const authorization = {
    from: account.address,
    to: payTo,
    value: amount,
    validAfter: String(now - 600),
    validBefore: String(now + maxTimeoutSeconds),
    nonce,
  }
  const kinds = {
    from: 'address',
    to: 'address',
    value: 'uint256',
    validAfter: 'uint256',
    validBefore: 'uint256',
    nonce: 'bytes32',
  }
  const signature = await account.signTypedData({
    domain: {
      name: extra['name'] as string,
      version: extra['version'] as string,
      chainId: Number(network.split(':')[1]),
      verifyingContract: asset as `0x${string}`,
    },
    types: { TransferWithAuthorization: Object.entries(kinds).map(([name, type]) => ({ name, type })) },
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  return headerOf(challenge, authorization, signature)
}

describe.skipIf(pythonMissing)('the verifier in Python, as a package', () => {
  const python = (args: string[], input = '') =>
    spawnSync('python3', args, {
      cwd: pythonClient,
      encoding: 'utf8',
      input,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    })

  test('passes its own tests on the shared vectors', () => {
    const { status, stderr } = python(['-m', 'unittest', 'discover', '-s', 'tests'])
    expect(stderr).toMatch(/^OK$/m)
    expect(status).toBe(0)
  })

  test('has the version of the other packages', () => {
    const { version } = JSON.parse(readFileSync(join(pythonClient, '../../package.json'), 'utf8'))
    expect(python(['-c', 'import assay_verify; print(assay_verify.__version__)']).stdout.trim()).toBe(version)
  })

  test('verifies a live answer and its receipt, and refuses them changed', async () => {
    const account = await till.newBuyer()
    const url = `${till.node.url}${echoPath}?message=for%20python`
    const first = await fetch(url)
    const challenge = decodeHeader(first.headers.get('payment-required')) as unknown as Challenge
    const paid = await fetch(url, { headers: { 'PAYMENT-SIGNATURE': await signedAsInPython(account, challenge) } })
    const body = Buffer.from(await paid.arrayBuffer())
    const { stdout, stderr } = python(
      ['-c', checkAnswer],
      JSON.stringify({
        url,
        directory: await fetchDirectory(till.node.url),
        status: paid.status,
        headers: Object.fromEntries(paid.headers),
        body: body.toString('base64'),
        authority: new URL(url).host,
      }),
    )
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      payer: account.address.toLowerCase(),
      changed: 'Content-Digest does not fit the body',
      asked: 'the signature does not fit',
    })
  })
})

const checkAnswer = `
import base64, json, sys
import assay_verify as v
given = json.load(sys.stdin)
keys, body = v.read_keys(given['directory']), base64.b64decode(given['body'])
request = {'method': 'GET', 'url': given['url']}
response = {'status': given['status'], 'headers': given['headers'], 'body': body}
v.verify_response(request, response, keys)
receipt = v.receipt_in(given['headers']['payment-response'])
said = v.verify_receipt(receipt, keys, given['authority'], resourceUrl=given['url'])
def refused(request, response):
    try:
        v.verify_response(request, response, keys)
    except v.Invalid as problem:
        return str(problem)
print(json.dumps({'payer': said['payer'].lower(), 'changed': refused(request, dict(response, body=body + b' ')),
    'asked': refused(dict(request, url=given['url'] + '1'), response)}))
`
