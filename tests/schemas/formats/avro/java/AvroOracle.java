// Compiled and started by oracle.py beside it; Avro comes from Maven Central by pom.xml.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;

/**
 * Apache Avro's opinion on schemas, one question a line, in JSON: what a schema's text becomes,
 * and what keeps a reader from reading a writer's data.
 */
public class AvroOracle {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      ObjectNode answer = JSON.createObjectNode();
      try {
        answer(JSON.readTree(line), answer);
      } catch (Exception | StackOverflowError error) {
        answer.put("error", error.getClass().getSimpleName() + ": " + error.getMessage());
      }
      out.println(JSON.writeValueAsString(answer));
    }
    out.flush();
  }

  private static void answer(JsonNode question, ObjectNode answer) {
    if (question.has("reader")) {
      Schema reader = parsed(question.get("reader").textValue());
      Schema writer = parsed(question.get("writer").textValue());
      ArrayNode reasons = answer.putArray("reasons");
      for (SchemaCompatibility.Incompatibility reason :
          SchemaCompatibility.checkReaderWriterCompatibility(reader, writer)
              .getResult()
              .getIncompatibilities()) {
        reasons.addArray()
            .add(reason.getType().name())
            .add(reason.getLocation())
            .add(reason.getMessage());
      }
      return;
    }
    Schema.Parser parser = new Schema.Parser();
    parser.setValidateDefaults(question.path("is_new").asBoolean());
    List<Schema> references = new ArrayList<>();
    for (JsonNode reference : question.path("references")) {
      references.add(parser.parse(reference.textValue()));
    }
    Schema schema = parser.parse(question.get("text").textValue());
    answer.put("canonical", schema.toString(references, false));
    answer.put("resolved", schema.toString());
  }

  private static Schema parsed(String text) {
    Schema.Parser parser = new Schema.Parser();
    parser.setValidateDefaults(false);
    return parser.parse(text);
  }
}
