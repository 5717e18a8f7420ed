import { verifyResponse } from '@assay/sdk'
import type { Exchange } from './ask.ts'

const directories = new Map<string, Promise<unknown>>()

/** Checks the node's signature over an answer it gave for nothing. */
export async function verifyAnswer({ method, url, status, headers, bytes }: Exchange) {
  const { origin } = new URL(url)
  const directory =
    directories.get(origin) ??
    fetch(`${origin}/.well-known/http-message-signatures-directory`).then((response) => response.json() as unknown)
  directories.set(origin, directory)
  const read = await directory.catch((error: unknown) => {
    directories.delete(origin)
    throw error
  })
  return verifyResponse({ method, url }, { status, headers, body: bytes }, { directory: read, nowMs: Date.now() })
}
