import { sleep } from '@assay/protocol/sleep'

/** What the client takes from its surroundings; tests give their own. */
export type Platform = {
  fetch(request: Request): Promise<Response>
  nowMs(): number
  sleep(ms: number, signal?: AbortSignal | null): Promise<void>
  randomBytes(length: number): Uint8Array
  /** A signal that aborts after `ms`, unless it is cleared before. */
  timeout(ms: number): { signal: AbortSignal; clear(): void }
}

export const defaultPlatform: Platform = {
  fetch: (request) => globalThis.fetch(request),
  nowMs: () => Date.now(),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  timeout: (ms) => {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(new DOMException('no answer in time', 'TimeoutError')), ms)
    return { signal: controller.signal, clear: () => clearTimeout(timer) }
  },
  sleep,
}
