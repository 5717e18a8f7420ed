import { didOfAccount, type ProvenAccount } from '@assay/protocol/account'
import { parseAddress } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import {
  authChallengeAnswer,
  authChallengeBody,
  createAuthChallenge,
  createSession,
  sessionAnswer,
  sessionTokenType,
  verifySession,
  verifySiwx,
} from '@assay/till/proofs'
import { createJwsSigner } from '@assay/till/signing'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, signerOf } from '../../http/index.ts'
import { agentNames } from '../ports.ts'
import type { ShopContext } from '../shop.ts'

type AuthContext = Pick<ShopContext, 'proofs' | 'baseUrl' | 'base' | 'keyring' | 'clock' | 'ports'>

const exampleTime = '2026-01-01T00:05:00.000Z'
const exampleDid = 'did:x402:0x1111111111111111111111111111111111111111'

/** As every other place names it; without a shop for identities by its account. */
function nameOf({ ports }: AuthContext, account: ProvenAccount): string {
  return ports.find(agentNames)?.(account) ?? didOfAccount(account)
}

/** Proving who one is: a challenge to sign, and a short session for the one who signed it. */
export function authRoutes(context: AuthContext): RouteDeclaration[] {
  return [challengeRoute(context), sessionRoute(context), whoAmIRoute(context), signedRoute(context)]
}

function challengeRoute({ proofs, baseUrl, base }: AuthContext): RouteDeclaration {
  return defineRoute({
    id: 'auth.challenge',
    area: 'core',
    method: 'POST',
    path: '/v1/auth/challenge',
    summary: 'A sign-in-with-x challenge to sign with a wallet',
    description:
      'Name the account to get the exact text to sign. Each challenge works once, for five minutes, at this node only.',
    body: authChallengeBody,
    output: authChallengeAnswer,
    example: {
      body: { address: '0x1111111111111111111111111111111111111111', chain_id: 'eip155:8453' },
      output: {
        header: 'SIGN-IN-WITH-X',
        expires_at: exampleTime,
        info: {
          domain: 'node.example',
          uri: 'https://node.example',
          version: '1',
          nonce: '00000000000000000000000000000000',
          issuedAt: '2026-01-01T00:00:00.000Z',
          expirationTime: exampleTime,
          statement: 'Sign in to this Assay node. This moves no money.',
        },
        supportedChains: [{ chainId: 'eip155:8453', type: 'eip191' }],
      },
    },
    next: '/v1/auth/session',
    access: {
      kind: 'free',
      handle: async (input) => {
        const body = input.body as z.infer<typeof authChallengeBody>
        const address = parseAddress(body.address)
        const chainId = Number((body.chain_id ?? base.caip2).split(':')[1])
        return jsonAnswer(
          createAuthChallenge(proofs, { origin: baseUrl, ...(address ? { account: { chainId, address } } : {}) }),
        )
      },
    },
  })
}

function sessionRoute(context: AuthContext): RouteDeclaration {
  const authority = new URL(context.baseUrl).host
  const jws = createJwsSigner(context.keyring, { authority, clock: context.clock, typ: sessionTokenType })
  const deps = { clock: context.clock, keyring: context.keyring, jws, origin: context.baseUrl, authority }
  return defineRoute({
    id: 'auth.session',
    area: 'core',
    method: 'POST',
    path: '/v1/auth/session',
    summary: 'A 15-minute session for a signed challenge',
    description:
      'Send the signed challenge in SIGN-IN-WITH-X. The session opens reads; what moves money needs a separate signature.',
    output: sessionAnswer,
    example: { output: { token: 'eyJ…', token_type: 'Bearer', did: exampleDid, expires_at: exampleTime } },
    next: '/v1/auth/session',
    access: {
      kind: 'free',
      security: 'siwx',
      handle: async (_input, call) => {
        const header = call.headers.get('sign-in-with-x')
        if (header === undefined) throw new Problem('proof_required', { detail: 'SIGN-IN-WITH-X is missing.' })
        const account = await verifySiwx(context.proofs, header, context.baseUrl)
        return jsonAnswer({ ...createSession(deps, account), did: nameOf(context, account) })
      },
    },
  })
}

function whoAmIRoute(context: AuthContext): RouteDeclaration {
  const authority = new URL(context.baseUrl).host
  return defineRoute({
    id: 'auth.whoami',
    area: 'core',
    method: 'GET',
    path: '/v1/auth/session',
    summary: 'The account behind a session token',
    output: z.strictObject({ did: z.string() }),
    example: { output: { did: exampleDid } },
    next: '/',
    access: {
      kind: 'free',
      security: 'bearer',
      handle: async (_input, call) => {
        const token = /^Bearer ([\w.-]+)$/.exec(call.headers.get('authorization') ?? '')?.[1]
        if (token === undefined)
          throw new Problem('proof_required', { detail: 'Send Authorization: Bearer with a session token.' })
        const account = verifySession(
          { clock: context.clock, keyring: context.keyring, origin: context.baseUrl, authority },
          token,
        )
        return jsonAnswer({ did: nameOf(context, account) })
      },
    },
  })
}

/** Where a signer can be tried before it signs something that matters. */
function signedRoute(context: AuthContext): RouteDeclaration {
  return defineRoute({
    id: 'auth.check',
    area: 'core',
    method: 'POST',
    path: '/v1/auth/check',
    summary: 'Check a request-bound signature (ERC-8128) and learn whose it is',
    description:
      'Sign method, authority, path, query and body digest with a nonce, valid for at most 60 s. Any JSON object may be the body.',
    body: z.record(z.string(), z.unknown()),
    output: z.strictObject({ did: z.string() }),
    example: { body: { any: 'thing' }, output: { did: exampleDid } },
    next: '/',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (_input, call) => {
        return jsonAnswer({ did: nameOf(context, await signerOf(context, call)) })
      },
    },
  })
}
