import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { facilitatorVariables } from '@assay/till/facilitators'
import { fromHex, getAddress, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { ProviderKeys } from './keyed-upstreams.ts'
import type { Watch } from './watch.ts'

export const canary = (name: string) => `canary-${name}-${randomBytes(8).toString('hex')}`

/** A secret of every kind that a configuration can hold, each to be found nowhere. */
export type Canaries = {
  provider: ProviderKeys
  nats: { user: string; password: string }
  facilitatorToken: string
  hookKey: string
  cdp: { keyId: string; keySecret: string }
  settler: { key: Hex; address: Hex }
  /** For both nodes. */
  env: Record<string, string>
  /** For the one that settles with its own wallets. */
  ownEnv: Record<string, string>
  /** For the one that has a hosted facilitator settle. */
  hostedEnv: Record<string, string>
}

/** What the kinds of facilitators read: any text, unless it is set below. */
const facilitatorSecrets = Object.entries(facilitatorVariables).flatMap(([name, { secret }]) => (secret ? name : []))

export async function makeCanaries(watch: Watch, home: string): Promise<Canaries> {
  const make = (name: string) => {
    const text = canary(name)
    watch.keep(name, text)
    return text
  }
  const provider = {
    user: make('rpc-user'),
    password: make('rpc-password'),
    path: make('rpc-path'),
    query: make('rpc'),
  }
  const nats = { user: make('nats-user'), password: make('nats-password') }
  const [settler, otherSettler, custody, mover] = [1, 2, 3, 4].map(() => walletKey(watch)) as Wallets
  const cdp = { keyId: make('cdp-key-id'), keySecret: cdpSecret(watch) }
  const facilitatorToken = make('facilitator-token')
  const files = {
    SIGNING_KEY_FILE: join(home, 'signing.pem'),
    LOG_KEY_FILE: join(home, 'log.pem'),
    SETTLER_KEYS_FILE: join(home, 'settlers'),
    CUSTODY_KEYS_FILE: join(home, 'custody'),
    MOVER_KEY_FILE: join(home, 'mover'),
    SIGNER_KEY_FILE: join(home, 'signer-client.pem'),
    PRICE_SOURCE_KEY_FILE: join(home, 'prices'),
    FIELDS_SOURCE_KEY_FILE: join(home, 'fields'),
  }
  await writeFile(files.SIGNING_KEY_FILE, signingKey(watch), { mode: 0o600 })
  await writeFile(files.LOG_KEY_FILE, signingKey(watch), { mode: 0o600 })
  await writeFile(files.SETTLER_KEYS_FILE, otherSettler.key, { mode: 0o600 })
  await writeFile(files.CUSTODY_KEYS_FILE, custody.key, { mode: 0o600 })
  await writeFile(files.MOVER_KEY_FILE, mover.key, { mode: 0o600 })
  await writeFile(files.SIGNER_KEY_FILE, signingKey(watch), { mode: 0o600 })
  await writeFile(files.PRICE_SOURCE_KEY_FILE, make('price-file'), { mode: 0o600 })
  await writeFile(files.FIELDS_SOURCE_KEY_FILE, make('fields-file'), { mode: 0o600 })
  return {
    provider,
    nats,
    facilitatorToken,
    hookKey: make('hook-key'),
    cdp,
    settler,
    env: {
      CUSTODY: getAddress(custody.address),
      SIGNING_KEY_FILE: files.SIGNING_KEY_FILE,
      LOG_KEY_FILE: files.LOG_KEY_FILE,
      // Asked with its key on every round, and never there.
      PRICE_SOURCE: 'csv https://prices.invalid/{date}',
      FIELDS_SOURCE: 'csv https://fields.invalid/{date}',
      MATCH: JSON.stringify({ opensearch_url: 'https://search.invalid', opensearch_authorization: make('opensearch') }),
    },
    ownEnv: {
      SETTLER_KEYS: settler.key,
      CUSTODY_KEYS: custody.key,
      MOVER_KEY: mover.key,
      FACILITATOR_TOKEN: facilitatorToken,
      PRICE_SOURCE_KEY: make('price-key'),
      FIELDS_SOURCE_KEY: make('fields-key'),
      NOTIFICATIONS: '{"mail_from":"node@node.test"}',
      SMTP_URL: `smtp://node:${make('smtp-password')}@127.0.0.1:1`,
    },
    hostedEnv: {
      ...Object.fromEntries(facilitatorSecrets.map((name) => [name, make(name)])),
      FACILITATOR: 'cdp',
      CDP_API_KEY_ID: cdp.keyId,
      CDP_API_KEY_SECRET: cdp.keySecret,
      SETTLER_KEYS_FILE: files.SETTLER_KEYS_FILE,
      CUSTODY_KEYS_FILE: files.CUSTODY_KEYS_FILE,
      MOVER_KEY_FILE: files.MOVER_KEY_FILE,
      SIGNER_KEY_FILE: files.SIGNER_KEY_FILE,
      PRICE_SOURCE_KEY_FILE: files.PRICE_SOURCE_KEY_FILE,
      FIELDS_SOURCE_KEY_FILE: files.FIELDS_SOURCE_KEY_FILE,
      // Nobody listens there: what cannot be sent is dropped, and said without what was in it.
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${make('collector')}`,
    },
  }
}

type Wallet = { key: Hex; address: Hex }
type Wallets = [Wallet, Wallet, Wallet, Wallet]

function walletKey(watch: Watch): { key: Hex; address: Hex } {
  const key = generatePrivateKey()
  watch.keep('wallet key', fromHex(key, 'bytes'))
  return { key, address: privateKeyToAccount(key).address }
}

/** In a PEM as in a JWK the secret is the same 32 bytes. */
function signingKey(watch: Watch): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  watch.keep('signing key', privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32))
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
}

function cdpSecret(watch: Watch): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
  watch.keep('cdp-key-secret', seed)
  return Buffer.concat([seed, publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)]).toString('base64')
}
