import { createPrivateKey } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { writeDurably } from '../kernel/durable-file.ts'
import { type LocalSigningKey, privateKeyFrom, privateKeyFromSeed } from './signing-key.ts'

const pemBlock = /-----BEGIN PRIVATE KEY-----[\s\S]+?-----END PRIVATE KEY-----/g

/** Reads SIGNING_KEY_FILE: one or more PKCS8 PEM blocks, or `{"keys":[jwk, …]}`. */
export function parseKeyFile(text: string): LocalSigningKey[] {
  const blocks = text.match(pemBlock)
  if (blocks) return blocks.map((block) => privateKeyFrom(createPrivateKey(block)))
  const parsed = parseUnquoted(text)
  const keys = (parsed as { keys?: unknown } | null)?.keys
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('the key file holds no keys')
  return keys.map((key: unknown) => {
    const { kty, crv, d } = (key ?? {}) as Record<string, unknown>
    if (kty !== 'OKP' || crv !== 'Ed25519' || typeof d !== 'string')
      throw new Error('a key is not a private Ed25519 JWK')
    return privateKeyFromSeed(d)
  })
}

/** What cannot be parsed is quoted by the parser, and here it may be a key. */
function parseUnquoted(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the key file is neither PEM nor JSON')
  }
}

export async function readKeyFile(path: string): Promise<LocalSigningKey[]> {
  const { mode } = await stat(path)
  if ((mode & 0o077) !== 0) throw new Error('the signing key file can be read by others; make its mode 0600')
  return parseKeyFile(await readFile(path, 'utf8'))
}

/** Adds a key without ever leaving a half-written file behind; keeps the format that is there. */
export async function appendToKeyFile(path: string, key: LocalSigningKey): Promise<void> {
  const before = await readFile(path, 'utf8').catch(() => '')
  const keys = before === '' ? [] : parseKeyFile(before)
  if (keys.some((known) => known.keyId === key.keyId)) return
  const text = before.includes('-----BEGIN')
    ? `${before.trimEnd()}\n${key.privateKey.export({ format: 'pem', type: 'pkcs8' })}`
    : `${JSON.stringify({ keys: [...keys, key].map(toJwk) }, null, 2)}\n`
  await writeDurably(path, text, 0o600)
}

function toJwk(key: LocalSigningKey): Record<string, string> {
  return { kty: 'OKP', crv: 'Ed25519', kid: key.keyId, x: key.x, d: key.d }
}
