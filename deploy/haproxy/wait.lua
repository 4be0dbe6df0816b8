-- Holds a request back while HAProxy knows no server, for half a second at most. A process that has just been started
-- or reloaded takes requests before the DNS has answered its first question; without this they would get 503.
core.register_action("wait_for_server", {"http-req"}, function(transaction)
    for _ = 1, 50 do
        core.msleep(10)
        if transaction.f:nbsrv("poi") > 0 then return end
    end
end, 0)
