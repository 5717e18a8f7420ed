import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { legalAcknowledgement } from '../packages/node/src/shops/options/settings.ts'
import { hosts } from './outside/names.ts'
import type { Env } from './servers/node-process.ts'

export type Wallet = { key: `0x${string}`; address: `0x${string}` }

export const newWallet = (): Wallet => {
  const key = generatePrivateKey()
  return { key, address: privateKeyToAccount(key).address }
}

/** What the operator has on the first day: keys, wallets, an account with the facilitator. */
export type Operator = {
  payTo: Wallet
  custody: Wallet
  settler: Wallet
  cold: Wallet
  /** Wallets that may trade options. */
  traders: readonly [Wallet, Wallet]
  apiKeyId: string
  apiPublicKey: string
  env: Env
}

export async function createOperator(home: string): Promise<Operator> {
  const [payTo, custody, settler, cold] = [newWallet(), newWallet(), newWallet(), newWallet()]
  const traders = [newWallet(), newWallet()] as const
  const api = generateKeyPairSync('ed25519')
  const apiKeyId = 'organizations/rehearsal/apiKeys/1'
  return {
    payTo,
    custody,
    settler,
    cold,
    traders,
    apiKeyId,
    apiPublicKey: api.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    env: {
      ASSAY_MODE: 'production',
      ASSAY_HOME: join(home, 'node'),
      PAY_TO: payTo.address,
      CUSTODY: custody.address,
      CUSTODY_KEYS: custody.key,
      SETTLER_KEYS: settler.key,
      WITHDRAW_TO: cold.address,
      BASE_URL: `https://${hosts.node}`,
      API_URL: `https://${hosts.api}`,
      TRUST_PROXY: '1',
      FACILITATOR: 'cdp,local',
      CDP_API_KEY_ID: apiKeyId,
      CDP_API_KEY_SECRET: cdpSecret(api),
      CONTACT_EMAIL: `operator@${hosts.node}`,
      SIGNING_KEY_FILE: await keyFile(home, 'signing'),
      LOG_KEY_FILE: await keyFile(home, 'log'),
      SANDBOX: 'true',
      LOG_LEVEL: 'warn',
      MATRIX: '{"fetch":[]}',
      // Small traffic: short buckets, and a privacy budget that lets a dozen agents show.
      INTENTS: JSON.stringify({
        bucket_seconds: 30,
        epsilon_daily: 1_000_000,
        bond_usd: '1',
        spend_usd: '0',
        clusters: [ownTopic],
      }),
      OPTIONS: JSON.stringify({
        enabled: true,
        acknowledge: legalAcknowledgement,
        allowlist: traders.map(({ address }) => address),
        agent_cost_usd: '100000',
        tick_seconds: 30,
        half_life_seconds: 60,
        window_seconds: 60,
      }),
    },
  }
}

export const ownTopic = {
  id: 'container-gardening',
  name: 'Container gardening',
  terms: ['container', 'gardening', 'soil'],
}

/** Turns the importer on. */
export const importing: Env = {
  MATRIX: '{"fetch":["sec-tickers","sec-shares","sec-fails","sec-13f","finra-short-interest"]}',
  LICENCES: JSON.stringify([
    {
      source: 'finra-short-interest',
      allows: 'paid',
      asserted_by: 'the operator of the rehearsal',
      asserted_at: '2026-01-01',
      reference: 'rehearsal',
    },
  ]),
}

/** As CDP's portal gives it: seed and public key, base64. */
function cdpSecret({ privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject }): string {
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
  const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return Buffer.concat([seed, point]).toString('base64')
}

async function keyFile(home: string, name: string): Promise<string> {
  const path = join(home, `${name}.pem`)
  const { privateKey } = generateKeyPairSync('ed25519')
  await writeFile(path, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  return path
}
