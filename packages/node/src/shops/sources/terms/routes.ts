import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, signerOf } from '../../../http/index.ts'
import type { SourceDeps } from '../deps.ts'
import { exampleAt, exampleWallet } from '../examples.ts'
import { requireSource } from '../register/register-source.ts'
import { domainInput } from '../schemas.ts'
import { completeRules, licencesOf, rulesInput } from './creator-rules.ts'
import { writeRsl } from './publish-rsl.ts'
import { describeTerms, publishTerms, setTerms } from './set-terms.ts'

const params = z.strictObject({ domain: domainInput })
const exampleParams = { domain: 'example.com' }
const path = '/v1/sources/:domain/terms'
const rslType = 'application/rsl+xml'

const rule = z.strictObject({
  path: z.string(),
  crawl: z.boolean(),
  snippet: z.boolean(),
  attest: z.boolean(),
  attest_micro: z.string(),
  content: z.boolean(),
  content_micro: z.string().nullable().describe('For the whole text of a page.'),
})
const termsSchema = z.strictObject({
  domain: z.string(),
  rules: z.array(rule).describe('In force; the longest path that matches a page decides.'),
  rsl_url: z.string().describe('The same as RSL 1.0, published here.'),
  robots_line: z.string().describe('To be put into robots.txt, so that others read it too.'),
  history: z
    .array(z.strictObject({ seq: z.int(), set_at: z.string(), set_by: z.string(), rules: z.array(rule) }))
    .describe('The last 20 versions, newest first, each with the wallet that signed it.'),
})

const exampleBody = {
  rules: [
    { path: '/', attest_usd: '0.01' },
    { path: '/private/', crawl: false },
  ],
}
const exampleRules = completeRules(exampleBody.rules)
const exampleTerms = {
  domain: 'example.com',
  rules: exampleRules,
  rsl_url: 'https://api.example.org/v1/sources/example.com/rsl.xml',
  robots_line: 'License: https://api.example.org/v1/sources/example.com/rsl.xml',
  history: [{ seq: 1, set_at: exampleAt, set_by: exampleWallet, rules: exampleRules }],
}

export function termsRoutes(deps: SourceDeps): RouteDeclaration[] {
  return [showRoute(deps), setRoute(deps), rslRoute(deps)]
}

function showRoute(deps: SourceDeps): RouteDeclaration {
  return defineRoute({
    id: 'sources.terms',
    capability: 'citations.source.terms',
    area: 'C',
    method: 'GET',
    path,
    summary: 'What the creator of a site allows and asks for, by path, with its history',
    params,
    output: termsSchema,
    example: { params: exampleParams, output: exampleTerms },
    next: '/v1/sources/:domain',
    access: {
      kind: 'free',
      handle: async (input) =>
        jsonAnswer(await describeTerms(deps, (await requireSource(deps, input.params.domain)).domain)),
    },
  })
}

function setRoute(deps: SourceDeps): RouteDeclaration {
  return defineRoute({
    id: 'sources.terms.set',
    capability: 'citations.source.terms.set',
    area: 'C',
    method: 'PUT',
    path,
    summary: 'Set what may be done with the pages of a proven domain, and what it costs, by path',
    description:
      'Signed (ERC-8128) by the wallet that is paid now. Replaces all rules; obeyed and published as RSL at once. What the site itself says still counts: the stricter of both decides, and the dearer price.',
    params,
    body: z.strictObject({ rules: rulesInput }),
    output: termsSchema,
    example: { params: exampleParams, body: exampleBody, output: exampleTerms },
    next: '/v1/sources/:domain',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const { domain } = await requireSource(deps, input.params.domain)
        const { address } = await signerOf(deps, call)
        await setTerms(deps, { domain, rules: completeRules(input.body.rules), signedBy: address })
        return jsonAnswer(await describeTerms(deps, domain))
      },
    },
  })
}

function rslRoute(deps: SourceDeps): RouteDeclaration {
  return defineRoute({
    id: 'sources.terms.rsl',
    capability: 'citations.source.terms.rsl',
    area: 'C',
    method: 'GET',
    path: '/v1/sources/:domain/rsl.xml',
    summary: 'The terms of a creator as an RSL 1.0 document',
    params,
    representations: [rslType],
    output: z.string(),
    example: {
      params: exampleParams,
      output: writeRsl(licencesOf(exampleRules, 'https://example.com')),
    },
    next: '/v1/sources/:domain/terms',
    access: {
      kind: 'free',
      handle: async (input) => {
        const { domain } = await requireSource(deps, input.params.domain)
        const body = await publishTerms(deps, domain)
        if (body === undefined) throw new Problem('not_found', { detail: `No terms are set for ${domain}.` })
        return { status: 200, contentType: rslType, body }
      },
    },
  })
}
