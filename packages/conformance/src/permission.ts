import type { Case } from './case.ts'

export type Permission = {
  isLoopback: boolean
  /** The host serves the nonce of this run at `permissionPath`. */
  isGranted: boolean
}

export const permissionPath = '/.well-known/x402-conformance'

/** Reads whether the owner of a host agrees to this run. */
export async function readPermission(url: URL, isLoopback: boolean, nonce: string): Promise<Permission> {
  if (isLoopback) return { isLoopback, isGranted: true }
  try {
    const response = await fetch(new URL(permissionPath, url), {
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    })
    const text = (await response.text()).slice(0, 10_000)
    const isGranted = response.ok && text.split(/\s+/).includes(nonce)
    return { isLoopback, isGranted }
  } catch {
    return { isLoopback, isGranted: false }
  }
}

/** Why a case is not run against this host; undefined when it may be. */
export function forbidden({ level, needs }: Case, { isLoopback, isGranted }: Permission): string | undefined {
  if (isLoopback) return undefined
  if (needs.includes('loopback') || needs.includes('facilitator') || needs.includes('restart'))
    return 'only for sellers on this machine'
  const onlyReads = (level === 'L1' || level === 'L5') && !needs.includes('payment') && !needs.includes('chain')
  if (onlyReads || isGranted) return undefined
  return `the host does not serve the nonce of this run at ${permissionPath}`
}

/** What the owner of a host that is not on this machine has to serve before levels above L1 are checked. */
export const permissionHint = (url: string, nonce: string): string =>
  `Serve the text ${nonce} at ${new URL(permissionPath, url).href}, then run again with --nonce ${nonce}`
