import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { Hex } from '@assay/protocol/bytes'
import { readLimited } from '@assay/protocol/read-limited'
import { z } from 'zod'
import { signerOf } from '../chain/wallet/index.ts'
import type { Clock } from '../kernel/clock.ts'
import { ConfigError } from '../kernel/config-error.ts'
import type { Log } from '../kernel/log.ts'
import { parseKeyFile } from '../signing/key-file.ts'
import { createAnswers, type HeldKey, type HeldSigningKey, type SignerAnswer } from './answer-requests.ts'
import { isSigningRule, keyRuleSchema } from './key-limits.ts'
import { openJournal } from './spending-journal.ts'
import { requestBytesMax } from './wire.ts'

const configSchema = z.strictObject({
  host: z.string().default('127.0.0.1'),
  port: z.int().min(0).max(65_535),
  /** PEM files: what this signer shows, and the authority whose certificates nodes show. */
  cert_file: z.string(),
  key_file: z.string(),
  client_ca_file: z.string(),
  journal_file: z.string(),
  keys: z.array(keyRuleSchema).min(1).max(64),
})

export type RunningSigner = { port: number; keys: readonly { address: string; use: string }[]; stop(): Promise<void> }

/** Holds keys in its own process and signs for nodes whose certificate it knows, within the limits of each key. */
export async function serveSigner(path: string, { clock, log }: { clock: Clock; log: Log }): Promise<RunningSigner> {
  const parsed = configSchema.safeParse(JSON.parse(await readFile(path, 'utf8')))
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${path}: ${issue.path.join('.')}: ${issue.message}`))
  const config = parsed.data
  const at = (file: string) => resolve(dirname(path), file)
  const wallets: HeldKey[] = []
  const signing: HeldSigningKey[] = []
  for (const rule of config.keys)
    if (isSigningRule(rule)) signing.push({ rule, key: await readSigningKey(at(rule.key_file)) })
    else wallets.push({ rule, signer: signerOf(await readSecret(at(rule.key_file))) })
  await readSecretFile(at(config.key_file))
  const journal = await openJournal(at(config.journal_file), clock)
  const answer = createAnswers({ wallets, signing }, journal, clock)
  const server = createServer(
    {
      cert: await readFile(at(config.cert_file)),
      key: await readFile(at(config.key_file)),
      ca: await readFile(at(config.client_ca_file)),
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
      requestTimeout: 10_000,
      headersTimeout: 5_000,
    },
    async (request, response) => {
      const send = ({ code, body }: SignerAnswer) =>
        response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      try {
        const body = await readBody(request)
        if (body === undefined) return void send({ code: 413, body: { code: 'too_large', detail: 'too large' } })
        const answered = await answer(request.method ?? '', request.url ?? '', body)
        if (answered.code !== 200) log.warn({ path: request.url, ...answered }, 'a request was refused')
        send(answered)
      } catch (error) {
        log.error({ error: String(error) }, 'a request failed')
        send({ code: 500, body: { code: 'failed', detail: 'the signer failed' } })
      }
    },
  )
  await new Promise<void>((done, fail) => server.once('error', fail).listen(config.port, config.host, done))
  return {
    port: (server.address() as AddressInfo).port,
    keys: [
      ...wallets.map(({ rule, signer }) => ({ address: signer.address, use: rule.use })),
      ...signing.map(({ rule, key }) => ({ address: key.keyId, use: rule.use })),
    ],
    stop: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await journal.close()
    },
  }
}

async function readBody(request: AsyncIterable<Buffer>): Promise<string | undefined> {
  const bytes = await readLimited(request, requestBytesMax)
  return bytes === 'too_large' ? undefined : Buffer.from(bytes).toString('utf8')
}

async function readSecretFile(path: string): Promise<string> {
  const { mode } = await stat(path).catch(() => {
    throw new ConfigError([`${path}: cannot be read`])
  })
  if ((mode & 0o077) !== 0) throw new ConfigError([`${path}: can be read by others, chmod 600 it`])
  return readFile(path, 'utf8')
}

async function readSigningKey(path: string) {
  const text = await readSecretFile(path)
  try {
    const [key, ...others] = parseKeyFile(text)
    if (key && others.length === 0) return key
  } catch {
    // Said below: what cannot be parsed may be a key.
  }
  throw new ConfigError([`${path}: must hold one Ed25519 key: openssl genpkey -algorithm ed25519`])
}

async function readSecret(path: string): Promise<Hex> {
  const text = (await readSecretFile(path)).trim().toLowerCase()
  if (!/^0x[0-9a-f]{64}$/.test(text))
    throw new ConfigError([`${path}: must hold one private key, 0x and 64 hex digits`])
  return text as Hex
}
