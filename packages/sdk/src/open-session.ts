import { isRecord } from '@assay/protocol/json-object'
import { AssayError } from './errors.ts'
import { defaultPlatform, type Platform } from './platform.ts'
import { requestChallenge, type SignInOptions, signIn, signInHeader } from './sign-in.ts'

/** Opens reads that belong to an account; what moves money needs its own signature. */
export type Session = { token: string; did: string; expiresAt: string }

/** Signs in at a node: challenge, signature, session. Send the token as `Authorization: Bearer`. */
export async function openSession(
  options: Omit<SignInOptions, 'platform'> & { platform?: Pick<Platform, 'fetch' | 'nowMs'> },
): Promise<Session> {
  const { origin, platform = defaultPlatform } = options
  const challenge = await requestChallenge(origin, platform)
  const proof = await signIn(challenge, { ...options, platform })
  const url = new URL('/v1/auth/session', origin)
  const request = new Request(url, { method: 'POST', headers: { [signInHeader]: proof }, redirect: 'error' })
  const response = await platform.fetch(request)
  const body: unknown = await response.json().catch(() => undefined)
  const { token, did, expires_at: expiresAt, detail } = isRecord(body) ? body : {}
  if (typeof token !== 'string' || typeof did !== 'string' || typeof expiresAt !== 'string')
    throw new AssayError('request_failed', { detail: typeof detail === 'string' ? detail : url.href })
  return { token, did, expiresAt }
}
