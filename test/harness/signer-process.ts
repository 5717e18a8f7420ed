import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { makeCertificate } from '../../packages/node/src/outbound/certificate.fixture.ts'
import type { SignerConnection } from '../../packages/till/src/signer/index.ts'

export type SignerProcess = {
  /** Environment by which a node uses it. */
  env: Record<string, string>
  connection: SignerConnection
  kill(): Promise<void>
  /** At the same port, with the same keys and journal. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** `assay signer serve` as its own process, with an authority that both sides have from a file. */
export async function startSignerProcess(
  keys: readonly (Record<string, unknown> & { key: string })[],
): Promise<SignerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-signer-'))
  const authority = makeCertificate({ name: 'signer authority', authority: true })
  const server = makeCertificate({ name: 'localhost', issuer: authority })
  const client = makeCertificate({ name: 'node.test', issuer: authority })
  const put = async (name: string, text: string) => {
    await writeFile(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  const files = {
    SIGNER_CA_FILE: await put('ca.pem', authority.pem),
    SIGNER_CERT_FILE: await put('client.pem', client.pem),
    SIGNER_KEY_FILE: await put('client.key', client.key),
  }
  await put('server.pem', server.pem)
  await put('server.key', server.key)
  const rules: object[] = []
  for (const [index, { key, ...rule }] of keys.entries()) {
    await put(`wallet-${index}.key`, key)
    rules.push({ ...rule, key_file: `wallet-${index}.key` })
  }
  let port = 0
  let child: ChildProcess
  const start = async () => {
    const config = {
      ...{ host: '127.0.0.1', port, cert_file: 'server.pem', key_file: 'server.key', client_ca_file: 'ca.pem' },
      ...{ journal_file: 'journal.jsonl', keys: rules },
    }
    const path = await put('signer.json', JSON.stringify(config))
    child = spawn(process.execPath, ['packages/cli/bin/assay.mjs', 'signer', 'serve', '--config', path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const [, ready] = /^ready (\d+)$/.exec(line) ?? []
      if (ready !== undefined) {
        port = Number(ready)
        return
      }
    }
    throw new Error('the signer did not start')
  }
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await start()
  const url = `https://localhost:${port}`
  return {
    env: { SIGNER_URL: url, ...files },
    connection: { url, ca: authority.pem, cert: client.pem, key: client.key },
    kill,
    restart: async () => {
      await kill()
      await start()
    },
    close: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
