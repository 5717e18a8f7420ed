import { didOfAccount, type ProvenAccount, parsePkhDid } from '@assay/protocol/account'
import { didKeyUrl } from '@assay/protocol/did'
import { parseJson } from '@assay/protocol/json-object'
import { z } from 'zod'
import { type Clock, nowSeconds, toRfc3339 } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'
import { type JwsSigner, type Keyring, verifyJws } from '../signing/index.ts'

export const sessionSeconds = 900
/** Names the kind of token, so that a signed offer or receipt can never pass for a session. */
export const sessionTokenType = 'assay-session+jwt'

export type SessionDeps = {
  clock: Clock
  keyring: Keyring
  /** Made with `typ: sessionTokenType` and the same authority. */
  jws: JwsSigner
  /** Issuer and audience: a session of one origin is worthless at another. */
  origin: string
  authority: string
}

export const sessionAnswer = z.object({
  token: z.string(),
  token_type: z.literal('Bearer'),
  did: z.string(),
  expires_at: z.string(),
})

/** The 15-minute token that follows a sign-in; never enough for what moves money. */
export function createSession(deps: SessionDeps, account: ProvenAccount): z.infer<typeof sessionAnswer> {
  const iat = nowSeconds(deps.clock)
  const did = didOfAccount(account)
  const claims = { iss: deps.origin, aud: deps.origin, sub: did, iat, exp: iat + sessionSeconds, kind: account.kind }
  return {
    token: deps.jws.sign(JSON.stringify(claims)),
    token_type: 'Bearer',
    did,
    expires_at: toRfc3339((iat + sessionSeconds) * 1000),
  }
}

const claimsSchema = z.object({
  iss: z.string(),
  aud: z.string(),
  sub: z.string(),
  iat: z.number().int(),
  exp: z.number().int(),
  kind: z.enum(['key', 'contract']),
})

/** The account behind `Authorization: Bearer …`. */
export function verifySession(deps: Omit<SessionDeps, 'jws'>, token: string): ProvenAccount {
  const parts = verifyJws(token, (kid) => trustedKey(deps, kid))
  const claims = parts?.typ === sessionTokenType ? claimsSchema.safeParse(parseJson(parts.json)).data : undefined
  const account = claims && parsePkhDid(claims.sub)
  if (claims === undefined || account === undefined) throw refused('The session token is not one of this node.')
  if (claims.iss !== deps.origin || claims.aud !== deps.origin)
    throw refused('The session token is for another origin.')
  if (claims.exp <= nowSeconds(deps.clock)) throw refused('The session has expired.')
  return { ...account, kind: claims.kind }
}

/** Any key of ours that was not revoked: sessions outlive a rotation, not a theft. */
function trustedKey(deps: Omit<SessionDeps, 'jws'>, kid: string): string | undefined {
  return deps.keyring
    .keys()
    .find((key) => key.revokedAtMs === undefined && didKeyUrl(deps.authority, key.keyId) === kid)?.x
}

function refused(detail: string): Problem {
  return new Problem('proof_invalid', { detail })
}
