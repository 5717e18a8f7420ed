import { facilitatorChoices } from '@assay/till/facilitators'
import type { environmentSchema } from './environment.ts'

/** How the documents show a variable of the node, and whether its value must not be seen. */
export type Described = { shown: string; description: string; secret: boolean }

/** docs/configuration.md is compared with these rows by a test. */
export const nodeVariables: Readonly<Record<keyof typeof environmentSchema.shape, Described>> = {
  ASSAY_MODE: {
    shown: '`demo`',
    description: '`demo`: own database, own chains, test money. `production`: real chains, nothing weak accepted.',
    secret: false,
  },
  HOST: {
    shown: '`127.0.0.1`',
    description: 'Address to listen at.',
    secret: false,
  },
  PORT: {
    shown: '`4020`',
    description: 'Port to listen at; `0` picks a free one.',
    secret: false,
  },
  PROCESSES: {
    shown: '`1`',
    description:
      'Worker processes behind one listening socket: a number up to 64, or `auto` for as many as the cores carry beside their database; `assay up --processes N` does the same. See [all cores](scale.md#all-cores-of-one-machine).',
    secret: false,
  },
  ASSAY_HOME: {
    shown: '`.assay`',
    description: 'Data folder: embedded database and chains, and the note by which `assay` finds them.',
    secret: false,
  },
  DATABASE_URL: {
    shown: 'none',
    description: 'PostgreSQL 14 or newer to use instead of the embedded one. Required in production.',
    secret: true,
  },
  DATABASE_URL_DIRECT: {
    shown: 'none',
    description:
      'The same server past a transaction pooler such as PgBouncer. Set it when `DATABASE_URL` names the pooler: migrations, notifications and process locks go here. See [deploy](deploy.md#pgbouncer).',
    secret: true,
  },
  DATABASE_URL_REPLICA: {
    shown: 'none',
    description:
      'A standby of `DATABASE_URL`, or a proxy before several, for reads that may lag: status of finished payments, pages that match, rows of feeds, DID documents, tiles of the log. See [deploy](deploy.md#reads-from-a-replica).',
    secret: true,
  },
  DATABASE_PORT: {
    shown: '`0`',
    description: 'TCP port of the embedded database; `0` picks a free one and keeps it.',
    secret: false,
  },
  DEVNET_PORTS: {
    shown: '`8545,8546`',
    description: 'JSON-RPC ports of the embedded chains, Base, Polygon, then those of `CHAINS`; `0` picks a free one.',
    secret: false,
  },
  NETWORKS: {
    shown: '`main`',
    description: '`main`: Base and Polygon. `test`: Base Sepolia and Polygon Amoy.',
    secret: false,
  },
  BASE_RPC_URLS: {
    shown: 'none',
    description:
      'Comma-separated JSON-RPC URLs of Base, best of three operators: hosts are counted, not URLs. https, or http on this machine. Required in production; with it a demo node joins a running chain.',
    secret: true,
  },
  POLYGON_RPC_URLS: {
    shown: 'none',
    description: 'The same for Polygon.',
    secret: true,
  },
  RPC_CALLS_PER_MINUTE: {
    shown: 'none',
    description:
      'Calls that each RPC endpoint gets at most in a minute, 10 or more; one that has had them is asked last, and where nobody is left a purchase answers 503. Signed transactions are sent all the same. Without it: as many as are needed.',
    secret: false,
  },
  CHAINS: {
    shown: 'none',
    description:
      'JSON: further chains to take USDC on, by name, such as `{"arbitrum":{"chain_id":42161,"rpc_urls":["https://…"],"usdc":"0x…"}}`; optional members `usdc_name`, `usdc_version` (EIP-712 domain of the token) and `native_usd_max`.',
    secret: true,
  },
  DOLLARS: {
    shown: 'none',
    description:
      'JSON: tokens with 6 decimals that are taken beside USDC by routes that take any asset, by chain, such as `{"base":[{"address":"0x…","symbol":"USDX","name":"USD X","version":"1"}]}`. `name` and `version` are the EIP-712 domain of a token with EIP-3009; one without both is paid by Permit2 only and cannot be paid in as credit.',
    secret: false,
  },
  PAY_TO: {
    shown: 'demo operator',
    description: "Checksummed address that receives what is the operator's own. May be cold. Required in production.",
    secret: false,
  },
  CUSTODY: {
    shown: 'demo custody',
    description:
      'Address that receives what is owed to others; one for both chains, or `eip155:8453=0x…,eip155:137=0x…`. Never `PAY_TO`. Required in production.',
    secret: false,
  },
  BASE_URL: {
    shown: 'own address',
    description: 'Public origin of the node, such as `https://assay.example.org`. Required in production, https.',
    secret: false,
  },
  API_URL: {
    shown: '`BASE_URL`',
    description:
      'Public origin for citations, stream, options and other nodes; may be that of `BASE_URL`. Required in production, https.',
    secret: false,
  },
  SIGNING_KEY_FILE: {
    shown: 'none',
    description:
      'Ed25519 private keys, PKCS8 PEM or JWK set, mode 0600. Required in production; a demo node keeps its keys in the database.',
    secret: true,
  },
  LOG_KEY_FILE: {
    shown: 'none',
    description:
      'Ed25519 private key of the transparency log, in the same formats and mode; another one than those in `SIGNING_KEY_FILE`. Required in production. Make one with `openssl genpkey -algorithm ed25519 -out log-key.pem && chmod 600 log-key.pem`.',
    secret: true,
  },
  FACILITATOR: {
    shown: `\`${facilitatorChoices[0]}\``,
    description: `Who settles, one of: ${facilitatorChoices.join(', ')}. Or several, comma-separated, in the order in which they are tried. Required in production.`,
    secret: false,
  },
  MPP: {
    shown: '`true`',
    description:
      'The Payment authentication scheme (MPP, method `evm`) beside x402 on the same 402: `true` or `false`; see [ways to pay](buying.md#ways-to-pay).',
    secret: false,
  },
  CHANNELS: {
    shown: '`true`; `false` with `SIGNER_URL`',
    description:
      'Payment channels (`batch-settlement`) for calls of at most 0.01 USD, where one of the node’s own wallets settles and the contract is deployed: `true` or `false`; with `false` nothing new is sold, and what was sold is claimed and refunded all the same. See [ways to pay](buying.md#ways-to-pay).',
    secret: false,
  },
  SCREENING_LIST: {
    shown: 'none',
    description:
      'A file with addresses that are not served: one a line, or the SDN list of OFAC (CSV or XML). Read again when it changes; see [screening](payments.md#screening).',
    secret: false,
  },
  SETTLER_KEYS: {
    shown: 'demo settler',
    description:
      'Private keys of the wallets that settle with `FACILITATOR=local`, comma-separated. Each needs gas on both chains.',
    secret: true,
  },
  SETTLER_KEYS_FILE: {
    shown: 'none',
    description: 'A file with the same, instead of the environment.',
    secret: true,
  },
  CUSTODY_KEYS: {
    shown: 'demo custody',
    description:
      'Private keys of the `CUSTODY` wallets, comma-separated. They only sign transfers, which the settling wallets submit, so they need no gas. Without the key of a chain its shares accrue and nothing is paid out there.',
    secret: true,
  },
  CUSTODY_KEYS_FILE: {
    shown: 'none',
    description: 'A file with the same, instead of the environment.',
    secret: true,
  },
  SIGNER_URL: {
    shown: 'none',
    description:
      'Origin of a signer (`assay signer serve`) that holds the keys of the settling and custody wallets, instead of `SETTLER_KEYS` and `CUSTODY_KEYS`, and those of `SIGNING_KEY_FILE` and `LOG_KEY_FILE` where these are not set; https with certificates on both sides. [Keys outside the node](deploy.md#keys-outside-the-node).',
    secret: false,
  },
  SIGNER_CA_FILE: {
    shown: 'none',
    description: 'PEM of the authority that signed the certificate of the signer.',
    secret: false,
  },
  SIGNER_CERT_FILE: {
    shown: 'none',
    description: 'PEM of the certificate by which the signer knows this node.',
    secret: false,
  },
  SIGNER_KEY_FILE: {
    shown: 'none',
    description: 'PEM of the private key of that certificate.',
    secret: true,
  },
  PAYOUTS: {
    shown: '`{}`',
    description:
      'JSON object: minimum, daily limit, approval limit and batch size of payouts; docs/commerce.md lists the members.',
    secret: false,
  },
  WITHDRAW_TO: {
    shown: '`PAY_TO`',
    description:
      "Addresses that the operator's own money may be withdrawn to from `CUSTODY`, comma-separated, for all chains or for one (`eip155:8453=0x…`); the schedule uses the first. Changes are in the audit log. See [being paid](operations.md#being-paid).",
    secret: false,
  },
  WITHDRAW_EVERY: {
    shown: '`off`',
    description: "How often the operator's own money is withdrawn by itself, such as `12h` or `7d`.",
    secret: false,
  },
  WITHDRAW_MINIMUM_USD: {
    shown: '`10`',
    description: 'The schedule leaves less than this in `CUSTODY`.',
    secret: false,
  },
  FACILITATOR_TOKEN: {
    shown: 'none',
    description:
      'Opens `/facilitator/verify`, `/settle` and `/supported` to callers that send it as a bearer token; 32 to 512 characters.',
    secret: true,
  },
  ROYALTY_RECIPIENT: {
    shown: '`PAY_TO`',
    description: 'Address in `X-X402-Royalty-Recipient`.',
    secret: false,
  },
  CONTENT_LICENSE: {
    shown: '`LicenseRef-Assay-1.0`',
    description: 'SPDX expression in `X-X402-License`.',
    secret: false,
  },
  CONTACT_EMAIL: {
    shown: '`operator@demo.invalid`',
    description: 'Published in the index and in OpenAPI. Required in production.',
    secret: false,
  },
  SHARED_PAYEES: {
    shown: '`false`',
    description:
      '`true`: somebody else, such as a second database, is paid at `PAY_TO` or `CUSTODY` too. Transfers without a claim then wait for a person (`assay review list`) instead of becoming credit.',
    secret: false,
  },
  EXPOSURE_CAP_USD: {
    shown: '`10000`, demo `1000000`',
    description: 'Most value that may be served and not final at any moment; above it, paid routes answer 503.',
    secret: false,
  },
  ANSWERS_KEPT_DAYS: {
    shown: '`35`',
    description:
      'Days after which the stored answers of payments are dropped, at least 2. Until then a buyer who lost one gets it again with its `payment-identifier`.',
    secret: false,
  },
  PAYMENTS_KEPT_DAYS: {
    shown: 'for ever',
    description:
      'Days after which payments are dropped that nothing can change any more, at least 400. Claims and the books stay for ever, so a payment key is still used once.',
    secret: false,
  },
  TRUST_PROXY: {
    shown: '`0`',
    description: 'How many proxies of your own stand in front; only then is `X-Forwarded-For` believed.',
    secret: false,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    shown: 'none',
    description:
      'Address of an OpenTelemetry collector (OTLP over HTTP with JSON), such as `http://127.0.0.1:4318`; traces and metrics are sent there. Nothing is traced without it.',
    secret: false,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    shown: 'none',
    description: 'Headers of these requests, `name=value` separated by commas, such as a token.',
    secret: true,
  },
  OTEL_SERVICE_NAME: {
    shown: '`assay`',
    description: 'Name of this node at the collector.',
    secret: false,
  },
  METRICS_PUBLIC: {
    shown: '`false`',
    description: '`true` shows `/metrics` to everyone, otherwise to this machine only.',
    secret: false,
  },
  LOG_LEVEL: {
    shown: '`info`, demo `warn`',
    description: '`silent`, `error`, `warn` or `info`; logs go to standard error as JSON.',
    secret: false,
  },
  ERC6492_FACTORIES: {
    shown: 'none',
    description: 'Factories of smart wallets that may be deployed while checking a signature, comma-separated.',
    secret: false,
  },
  DNS_SERVERS: {
    shown: '`1.1.1.1,9.9.9.9`',
    description:
      'IP addresses of two or more recursive resolvers, best of different operators; a domain proof counts only when they agree.',
    secret: false,
  },
  DEMO_HOSTS: {
    shown: 'none',
    description:
      'Demo only: `my.test=127.0.0.1:8080,…` maps names under `.test` to sites on this machine, to try registering one. Production refuses it.',
    secret: false,
  },
}
