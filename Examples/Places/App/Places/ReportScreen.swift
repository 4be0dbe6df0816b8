import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// What a person reports of a place that isn't right.
struct ReportScreen: View {
    let environment: AppEnvironment

    @State private var model: ReportModel
    @State private var isSending = false
    @Environment(\.dismiss) private var dismiss

    init(place: PointOfInterest, environment: AppEnvironment) {
        self.environment = environment
        _model = State(initialValue: ReportModel(place: place))
    }

    var body: some View {
        NavigationStack {
            Form {
                if model.isSent {
                    Text("Thank you. Your report will be sent as soon as there is a network.")
                } else {
                    fields
                }
            }
            .navigationTitle("Report a mistake")
            .navigationBarTitleDisplayMode(.inline)
            .toolbar {
                Button(model.isSent ? "Done" : "Cancel") { dismiss() }
                if !model.isSent {
                    Button("Send", action: send)
                        .disabled(isSending || !model.canBeSent)
                }
            }
        }
    }

    @ViewBuilder private var fields: some View {
        Section {
            Picker("What is wrong?", selection: $model.reason) {
                ForEach(PlaceReport.Reason.allCases, id: \.self) { Text(Wording.reason($0)).tag($0) }
            }
        }
        Section {
            TextField("What should we know?", text: $model.text, axis: .vertical)
        } footer: {
            VStack(alignment: .leading) {
                Text("\(model.remainingCharacters)")
                    .accessibilityLabel("\(model.remainingCharacters) characters left")
                if let message = model.message { Text(message).foregroundStyle(.red) }
            }
        }
    }

    private func send() {
        isSending = true
        Task {
            model = await model.sent(by: environment)
            isSending = false
        }
    }
}

#if DEBUG
    struct ReportScreen_Previews: PreviewProvider {
        static let window = PlacesWindow.preview()

        static var previews: some View {
            ReportScreen(place: .fixture(), environment: window.session.environment)
        }
    }
#endif
