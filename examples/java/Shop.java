import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Evaluates two flags of a shop with nothing but the Java class library. */
public class Shop {
    private static final String URL = System.getenv().getOrDefault("GUIDON_URL", "http://127.0.0.1:8080");
    // Enough for booleans, numbers and keys of variants. Attachments that are objects need a JSON library.
    private static final Pattern VALUE = Pattern.compile("\"value\":(?:\"([^\"]*)\"|([^,}\"]+))");
    private static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

    public static void main(String[] args) {
        String user = """
                {"context": {"targetingKey": "u-3", "country": "SE", "orders": 2}}""";
        System.out.println("dark-mode: " + Boolean.parseBoolean(evaluate("dark-mode", "false", user)));
        System.out.println("payment-methods: " + evaluate("payment-methods", "international", user));
    }

    /** Returns the value of the flag for the user, or the default. */
    static String evaluate(String flag, String byDefault, String user) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(URL + "/ofrep/v1/evaluate/flags/" + flag))
                .timeout(Duration.ofSeconds(2))
                .header("Content-Type", "application/json")
                .header("X-Guidon-Namespace", "default")
                .POST(HttpRequest.BodyPublishers.ofString(user));
        String token = System.getenv("GUIDON_TOKEN");
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        try {
            HttpResponse<String> response = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
            Matcher value = VALUE.matcher(response.body());
            if (response.statusCode() == 200 && value.find()) {
                return value.group(1) != null ? value.group(1) : value.group(2);
            }
            System.err.println("using the default of " + flag + ": " + response.statusCode() + " " + response.body());
        } catch (java.io.IOException e) {
            System.err.println("using the default of " + flag + ": " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return byDefault;
    }
}
