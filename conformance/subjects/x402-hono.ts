import { serve } from '@hono/node-server'
import { paymentMiddleware } from '@x402/hono'
import { Hono } from 'hono'
import { otherPath, path, port, weather } from './setting.ts'
import { resourceServer, routes } from './stock-server.ts'

const app = new Hono()
app.use(paymentMiddleware(routes, resourceServer))
app.get(path, (context) => context.json(weather()))
app.get(otherPath, (context) => context.json(weather()))
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
