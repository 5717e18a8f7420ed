import { paymentMiddleware } from '@x402/express'
import express from 'express'
import { otherPath, path, port, weather } from './setting.ts'
import { resourceServer, routes } from './stock-server.ts'

const app = express()
app.use(paymentMiddleware(routes, resourceServer))
app.get([path, otherPath], (_request, response) => {
  response.json(weather())
})
app.listen(port, '127.0.0.1')
