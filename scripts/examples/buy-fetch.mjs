// node buy-fetch.mjs <url> <private key>: buys once with @x402/fetch.
import { wrapFetchWithPayment } from '@x402/fetch'
import { stockClient } from './stock-client.mjs'

const [url, key] = process.argv.slice(2)
const response = await wrapFetchWithPayment(fetch, stockClient(key))(url)
const text = await response.text()
if (response.status !== 200) throw new Error(`${response.status} ${text}`)
process.stdout.write(`@x402/fetch: ${text}`)
