const at = '2026-01-01T00:00:00.000Z'
const wallet = '0x1111111111111111111111111111111111111111'
const claimId = 'clm_06d1z8k4q2v7e9m3x5c0w8r2t4'
const token = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

export const exampleSummary = {
  domain: 'example.com',
  display: 'example.com',
  registrable_domain: 'example.com',
  origin: 'https://example.com',
  state: 'registered',
  state_reason: '',
  cite_score: 41,
  confidence: 0.3,
  registered_at: at,
  updated_at: at,
  synthetic: false,
}

/** Short, but every member is there. */
export const exampleSource = {
  ...exampleSummary,
  next_steps: [
    {
      step: 'prove_domain',
      state: 'missing',
      fix: 'To prove the domain, publish the TXT record at _citemarket.example.com and POST to the verify link.',
    },
  ],
  proof: null,
  payout: { state: 'unproven', wallet: null },
  claim: {
    id: claimId,
    state: 'open',
    wallet,
    token_expires_at: at,
    takes_over_at: null,
    prove: {
      dns: {
        record: 'TXT',
        name: '_citemarket.example.com',
        value: `v=cm1; acct=${claimId}; tok=${token}; pay=eip155:8453:${wallet}`,
      },
      file: {
        url: 'https://example.com/.well-known/citation-market.json',
        content_type: 'application/json',
        content: {
          version: 'cm1',
          domain: 'example.com',
          claims: [{ account: claimId, token, pay: `eip155:8453:${wallet}` }],
        },
      },
      meta: {
        url: 'https://example.com/',
        html: `<meta name="citation-market-verification" content="cm1 ${claimId} ${token} eip155:8453:${wallet}">`,
      },
    },
    wallet_proven: false,
    wallet_statement: { primaryType: 'SourcePayout' },
    checked_at: null,
    report: null,
  },
  score: {
    value: 41,
    confidence: 0.3,
    model_version: 'citescore-1.1',
    computed_at: at,
    components: [
      {
        id: 'authority',
        value: 0.35,
        weight: 0.3,
        known: 0,
        signals: [{ id: 'trust', weight: 1, value: null, prior: 0.35, known: false }],
        evidence: [],
      },
    ],
    gate: { value: 1, reason: '' },
    evidence_count: 3,
    advice: [
      { component: 'licence_clarity', signal: 'licence', advice: 'Say what may be done with your text.', points: 4.2 },
    ],
    history: [{ seq: 1, score: 41, computed_at: at, model_version: 'citescore-1.1', jws: 'eyJ…' }],
  },
  crawl: {
    pages_indexed: 3,
    pages_known: 3,
    finished_at: at,
    problem: null,
    problems: [],
    robots: 'present',
    sitemap: 'absent',
  },
  terms: { offered: 3, link_only: 0, not_indexed: 0, reasons: [] },
  licence: {
    kind: 'named',
    name: 'CC-BY-4.0',
    url: 'https://creativecommons.org/licenses/by/4.0/',
    permits: [],
    prohibits: [],
    payment: [],
  },
  earnings: { citations: 0, earned_micro: '0', paid_micro: '0' },
  disputes: [],
  links: {
    self: 'https://api.example.org/v1/sources/example.com',
    verify: 'https://api.example.org/v1/sources/example.com/verify',
  },
}

export const exampleWallet = wallet
export const exampleAt = at
