import { randomBytes } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { evm, Mppx } from 'mppx/hono'
import {
  amount,
  asset,
  facilitatorUrl,
  network,
  otherAmount,
  otherPath,
  path,
  payTo,
  port,
  weather,
} from './setting.ts'

/** As its documentation has it: native MPP, and x402 on the same 402 through a facilitator. */
const mppx = Mppx.create({
  methods: [
    evm({
      ...{ currency: asset, recipient: payTo, chainId: Number(network.slice('eip155:'.length)), decimals: 6 },
      authorization: { name: 'USD Coin', version: '2' },
      x402: { facilitator: facilitatorUrl },
    }),
  ],
  secretKey: process.env['MPP_SECRET_KEY'] ?? randomBytes(32).toString('base64'),
})

const app = new Hono()
const charge = (units: string) => mppx.charge({ amount: String(Number(units) / 1e6) })
app.get(path, charge(amount), (context) => context.json(weather()))
app.get(otherPath, charge(otherAmount), (context) => context.json(weather()))
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
